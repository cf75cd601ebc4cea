// Signing keys as apps are given them: an optional prefix that names their kind, then hex (docs/reference/wire.md#keys).
// Apps never send a key itself: their bearer token is its hash.
import { createHash } from "node:crypto";

const prefixPattern = /^signkey-\w+-/;

/** The secret itself: the key's text without its prefix. */
export const withoutKeyPrefix = (key: string): string => key.replace(prefixPattern, "");

/** Whether a hash can be made of it: hex of even length after the prefix. */
export const isSigningKey = (key: string): boolean => /^(?:[0-9a-f]{2})+$/i.test(withoutKeyPrefix(key));

/** The token an app with this key shows: the prefix and the hash of the bytes the hex stands for. */
export function bearerTokenOf(key: string): string {
  const rest = withoutKeyPrefix(key);
  const hash = createHash("sha256").update(Buffer.from(rest, "hex")).digest("hex");
  return key.slice(0, key.length - rest.length) + hash;
}
