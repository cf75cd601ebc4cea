// A header that is a list: one time, and as many signatures over time and body as there are secrets in use. Stripe's and Paddle's differ
// by their words.
import type { Delivery, Verification, WebhookProvider } from "./provider.ts";
import {
  fromHex,
  hmac,
  isAnySame,
  isFault,
  isTimely,
  readStamp,
  refused,
  signatureHeader,
  signaturesMax,
  verified,
} from "./signature.ts";

export interface StampedList {
  readonly header: string;
  /** Between the list's parts. */
  readonly separator: string;
  readonly stamp: string;
  /** Only these count, whatever else is in the list. */
  readonly signature: string;
  /** Between time and body in what is signed. */
  readonly joint: string;
}

export function verifyStampedList(
  list: StampedList,
  { keys, toleranceMs }: { readonly keys: readonly string[]; readonly toleranceMs: number },
  delivery: Delivery,
  now: number,
): Verification {
  const header = signatureHeader(delivery, list.header);
  if (isFault(header)) return refused(header);
  const parts = header.split(list.separator).map((part) => part.split("=", 2) as [string, string | undefined]);
  const stamps = parts.filter(([name]) => name === list.stamp);
  const stamp = readStamp(stamps[0]?.[1] ?? null);
  // All of them: during a rotation the one we know may be the first.
  const given = parts.filter(([name]) => name === list.signature).map(([, value]) => fromHex(value ?? ""));
  if (stamp === null || stamps.length !== 1 || given.length > signaturesMax) return refused("malformed");
  if (given.length === 0) return refused("missing");
  const made = keys.map((key) => hmac("sha256", key, `${stamp}${list.joint}`, delivery.bytes));
  const readable = given.filter((each) => each !== null);
  if (!isAnySame(made, readable)) return refused("mismatch");
  return isTimely(stamp * 1_000, now, toleranceMs) ? verified : refused("stale");
}

export const signStampedList =
  (list: StampedList): WebhookProvider["sign"] =>
  ({ secret, bytes, url, at }) => {
    const stamp = Math.floor(at / 1_000);
    const signature = hmac("sha256", secret, `${stamp}${list.joint}`, bytes).toString("hex");
    const text = `${list.stamp}=${stamp}${list.separator}${list.signature}=${signature}`;
    return { url, headers: { [list.header]: text } };
  };
