// Signatures as app and server make them, for tests that stand between the two (docs/reference/wire.md#signatures).
import { createHmac } from "node:crypto";
import type { Reply } from "./wire.ts";

/** `t=<unix seconds>&s=<hex>`: HMAC over the bytes and t, with the key's text behind its prefix. */
export function signatureOf(body: string, key: string, atMs: number): string {
  const t = String(Math.floor(atMs / 1_000));
  const s = createHmac("sha256", key.replace(/^signkey-\w+-/, ""))
    .update(body)
    .update(t)
    .digest("hex");
  return `t=${t}&s=${s}`;
}

/** The answer as if the app had signed it at that time. */
export function signed({ status, headers, body }: Reply, key: string, atMs: number): Reply {
  const { "content-length": _, ...kept } = headers;
  return { status, headers: { ...kept, "x-inngest-signature": signatureOf(body, key, atMs) }, body };
}
