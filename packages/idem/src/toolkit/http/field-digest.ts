// One digest over several fields. Each stands behind its length, so that none can borrow characters from its neighbour: joined by
// a separator, `/p:q` with key `c` and `/p` with key `q:c` are the same text, and one caller gets the other's answer.
import { createHash, createHmac } from "node:crypto";

export type Field = string | Uint8Array | null;

/** SHA-256, or HMAC-SHA-256 under a secret; 64 hex digits. Null, "" and a missing field differ. */
export function fieldDigest(fields: readonly Field[], secret: string | null = null): string {
  const hash = secret === null ? createHash("sha256") : createHmac("sha256", secret);
  // Few calls with much text: each call costs more than what it hashes.
  let text = "";
  for (const field of fields) {
    if (field === null) text += "-;";
    else if (typeof field === "string") text += `${Buffer.byteLength(field)};${field}`;
    else {
      hash.update(`${text}${field.byteLength};`).update(field);
      text = "";
    }
  }
  return hash.update(text).digest("hex");
}
