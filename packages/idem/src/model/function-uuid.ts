// SDKs know a function by a UUID that stays the same when its app moves. Ours is made from its name: nothing to look up.
import { createHash } from "node:crypto";

const known = new Map<string, string>();
// One per function of every environment; more is a test that makes functions without end.
const knownMax = 10_000;

export function functionUuid(env: string, fn: string): string {
  const name = JSON.stringify([env, fn]);
  const found = known.get(name);
  if (found !== undefined) return found;
  const hex = createHash("sha256").update(name).digest("hex");
  // Version 8 (RFC 9562): made by a rule of our own.
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  if (known.size >= knownMax) known.clear();
  known.set(name, uuid);
  return uuid;
}
