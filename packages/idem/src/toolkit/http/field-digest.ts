// One digest over several fields. Each stands behind its length, so that none can borrow characters from its neighbour: joined by
// a separator, `/p:q` with key `c` and `/p` with key `q:c` are the same text, and one caller gets the other's answer.
import { createHash, createHmac } from "node:crypto";

export type Field = string | Uint8Array | null;

/** SHA-256, or HMAC-SHA-256 under a secret; 64 hex digits. Null, "" and a missing field differ. */
export function fieldDigest(fields: readonly Field[], secret: string | null = null): string {
  const hash = secret === null ? createHash("sha256") : createHmac("sha256", secret);
  for (const field of fields) {
    if (field === null) {
      hash.update("-;");
      continue;
    }
    const bytes = typeof field === "string" ? Buffer.from(field, "utf8") : field;
    hash.update(`${bytes.byteLength};`);
    hash.update(bytes);
  }
  return hash.digest("hex");
}
