// Signatures between server and app: `t=<unix seconds>&s=<hex>`, an HMAC over the body and t (docs/reference/wire.md#signatures).
// A request is signed over its canonical JSON, which the SDK makes again of what it received; an answer over its bytes.
// An answer's signature covers neither the request nor the run, so what protects against an old answer being shown again is
// the time in it: five minutes either way, and no longer.
import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";
import { canonicalJson } from "../model/json.ts";
import { withoutKeyPrefix } from "./signing-key.ts";

export const signatureHeader = "x-inngest-signature";

// The same either way as in the SDK: clocks of two machines differ, and nobody knows whose is ahead.
export const signatureMsMax = 5 * 60 * 1_000;
/**
 * As every SDK writes it, and no other form: nothing is between body and time in what is signed, so a time with leading zeros would let digits
 * at the end of a body pass for the beginning of the time.
 */
const signatureForm = /^t=([1-9]\d{0,11})&s=([0-9a-f]{64})$/i;

/** Send what you sign: SDKs of other languages hash the bytes they receive. */
export const canonicalBody = (json: string): string => canonicalJson(JSON.parse(json));

/** Signs a body in canonical form; the empty text for a request without one. */
export function signRequest(body: string, key: string, nowMs: number): string {
  const t = String(Math.floor(nowMs / 1_000));
  return `t=${t}&s=${hmac(body.includes(`"toJSON"`) ? asTheSdkReads(body) : body, t, key).toString("hex")}`;
}

export type Verified =
  | { readonly kind: "valid"; readonly key: string }
  | { readonly kind: "refused"; readonly why: string };

/** A header's claim before the body is there. */
export type SaidSignature =
  | { readonly kind: "said"; readonly t: string; readonly s: string }
  | Extract<Verified, { kind: "refused" }>;

/** Refused when it is missing, none, or more than five minutes old or ahead: no body can make it valid. */
export function readSignature(header: string | undefined, nowMs: number): SaidSignature {
  if (header === undefined || header === "") return refused("it is not signed");
  const [, t, s] = signatureForm.exec(header) ?? [];
  if (t === undefined || s === undefined) return refused("its signature cannot be read");
  const ageMs = nowMs - Number(t) * 1_000;
  if (Math.abs(ageMs) > signatureMsMax) {
    const off = `${Math.round(Math.abs(ageMs) / 1_000)} s ${ageMs > 0 ? "old" : "ahead of this clock"}`;
    return refused(`its signature is ${off}; 300 s are allowed`);
  }
  return { kind: "said", t, s };
}

/** Valid when one of the keys signed these bytes within the last five minutes. */
export function verifySignature(
  header: string | undefined,
  body: string | Uint8Array,
  keys: readonly string[],
  nowMs: number,
): Verified {
  const said = readSignature(header, nowMs);
  if (said.kind === "refused") return said;
  const checking = new SignatureCheck(said, keys);
  checking.hear(body);
  return checking.verdict();
}

/** Of a body that arrives in pieces: hashed while it does, the event loop is given back between them. */
export class SignatureCheck {
  private readonly hashes: readonly { readonly key: string; readonly hash: Hmac }[];

  constructor(
    private readonly said: Extract<SaidSignature, { kind: "said" }>,
    keys: readonly string[],
  ) {
    this.hashes = keys.map((key) => ({ key, hash: createHmac("sha256", withoutKeyPrefix(key)) }));
  }

  hear(piece: string | Uint8Array): void {
    for (const { hash } of this.hashes) hash.update(piece);
  }

  /** To be asked once. Every key is tried, so that the time taken does not tell which of them matched. */
  verdict(): Verified {
    const given = Buffer.from(this.said.s, "hex");
    let signer: string | null = null;
    for (const { key, hash } of this.hashes) {
      if (timingSafeEqual(hash.update(this.said.t).digest(), given)) signer ??= key;
    }
    return signer === null ? refused("its signature was made with another key") : { kind: "valid", key: signer };
  }
}

const refused = (why: string): Extract<Verified, { kind: "refused" }> => ({ kind: "refused", why });

const hmac = (body: string, t: string, key: string): Buffer =>
  createHmac("sha256", withoutKeyPrefix(key)).update(body).update(t).digest();

/**
 * The SDK's canonical form (package canonicalize) hands an object with a field "toJSON" to JSON.stringify, keys unsorted,
 * whatever the field holds. Event data with such a field would never verify unless the same is done here.
 */
function asTheSdkReads(body: string): string {
  const write = (value: unknown): string => {
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    if (Array.isArray(value)) return `[${value.map(write).join(",")}]`;
    const fields = value as Record<string, unknown>;
    if (fields.toJSON !== undefined && fields.toJSON !== null) return JSON.stringify(value);
    const parts = Object.keys(fields).sort();
    return `{${parts.map((key) => `${JSON.stringify(key)}:${write(fields[key])}`).join(",")}}`;
  };
  return write(JSON.parse(body));
}
