// The app's side of signatures (inngest-protocol §2.3, §2.4): calls are checked before anything in them is believed, answers
// are signed with the key the call was signed with.
import { createHmac, timingSafeEqual } from "node:crypto";
import { canonicalBody, signRequest, type Verified, verifySignature } from "./request-signature.ts";
import { withoutKeyPrefix } from "./signing-key.ts";

/** Valid when one of the keys signed these bytes, or their canonical form, within the last five minutes. */
export function verifyCall(header: string | undefined, body: string, keys: readonly string[], nowMs: number): Verified {
  const direct = verifySignature(header, body, keys, nowMs);
  if (direct.kind === "valid" || header === undefined || body === "") return direct;
  // What is signed is the canonical form, whatever a proxy or a body parser made of the bytes on their way.
  let canonical: string;
  try {
    canonical = canonicalBody(body);
  } catch {
    return direct;
  }
  const again = verifySignature(header, canonical, keys, nowMs);
  if (again.kind === "valid" || !body.includes('"toJSON"')) return again;
  // SDKs write an object with a field of that name in a form of their own; the server signs as they read.
  const at = Number(/^t=(\d{1,12})&/.exec(header)?.[1] ?? Number.NaN) * 1_000;
  if (!(Math.abs(nowMs - at) <= signatureMsMax)) return again;
  const signer = keys.filter((key) => isSame(header, signRequest(canonical, key, at)))[0];
  return signer === undefined ? again : { kind: "valid", key: signer };
}

// As for every signature.
const signatureMsMax = 5 * 60 * 1_000;

/** An answer is signed over its bytes as they are. */
export function signAnswer(body: string, key: string, nowMs: number): string {
  const t = String(Math.floor(nowMs / 1_000));
  const s = createHmac("sha256", withoutKeyPrefix(key)).update(body).update(t).digest("hex");
  return `t=${t}&s=${s}`;
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(a), Buffer.from(b)];
  return x.length === y.length && timingSafeEqual(x, y);
}
