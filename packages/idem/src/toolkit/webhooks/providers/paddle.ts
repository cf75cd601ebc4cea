// Paddle Billing. `Paddle-Signature: ts=…;h1=…[;h1=…]` over `ts:body`. Five seconds to answer; 60 retries over three days.
import { at, instant, jsonOf, words } from "../payload.ts";
import { type TimedProviderOptions, type WebhookProvider, windowMsDefault } from "../provider.ts";
import {
  fromHex,
  hmac,
  isAnySame,
  isFault,
  isTimely,
  readSecrets,
  readStamp,
  readTolerance,
  refused,
  signatureHeader,
  signaturesMax,
  verified,
} from "../signature.ts";

export function paddle({ secrets, tolerance }: TimedProviderOptions): WebhookProvider {
  const keys = readSecrets("paddle", secrets);
  // Their library allows 5 s, which a slow proxy uses up; five minutes is what everybody else allows.
  const toleranceMs = readTolerance("paddle", tolerance, { ms: 300_000, msMin: 5_000, msMax: 300_000 });
  return {
    name: "paddle",
    ackMs: 5_000,
    windowMs: windowMsDefault,
    verify(delivery, now) {
      const header = signatureHeader(delivery, "paddle-signature");
      if (isFault(header)) return refused(header);
      const parts = header.split(";").map((part) => part.split("=", 2) as [string, string | undefined]);
      const stamps = parts.filter(([name]) => name === "ts");
      const stamp = readStamp(stamps[0]?.[1] ?? null);
      // All of them: during a rotation the one we know may be the first.
      const given = parts.filter(([name]) => name === "h1").map(([, value]) => fromHex(value ?? ""));
      if (stamp === null || stamps.length !== 1 || given.length > signaturesMax) return refused("malformed");
      if (given.length === 0) return refused("missing");
      const made = keys.map((key) => hmac("sha256", key, `${stamp}:`, delivery.bytes));
      if (
        !isAnySame(
          made,
          given.filter((each) => each !== null),
        )
      )
        return refused("mismatch");
      return isTimely(stamp * 1_000, now, toleranceMs) ? verified : refused("stale");
    },
    parse: ({ bytes }) => jsonOf(bytes),
    read: (_delivery, payload) => ({
      // Not notification_id: that one is another for every destination.
      id: words(at(payload, "event_id")),
      type: words(at(payload, "event_type")),
      at: instant(at(payload, "occurred_at")),
      subject: words(at(payload, "data", "id")),
    }),
    sign({ secret, bytes, url, at: ms }) {
      const stamp = Math.floor(ms / 1_000);
      const signature = hmac("sha256", secret, `${stamp}:`, bytes).toString("hex");
      return { url, headers: { "paddle-signature": `ts=${stamp};h1=${signature}` } };
    },
  };
}
