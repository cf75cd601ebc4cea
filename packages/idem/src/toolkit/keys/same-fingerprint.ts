// Whether two requests are the same, by the algorithm the first one was written with.
import { timingSafeEqual } from "node:crypto";
import type { Fingerprint } from "./key-store.ts";

/** One that is not known here cannot be compared, and is another request: to tell a stranger somebody's answer is worse than to refuse. */
export function isSameFingerprint(written: Fingerprint | undefined, asked: readonly Fingerprint[]): boolean {
  const same = asked.find(({ version }) => version === written?.version);
  if (same === undefined || typeof written?.value !== "string") return false;
  const [a, b] = [Buffer.from(written.value), Buffer.from(same.value)];
  return a.length === b.length && timingSafeEqual(a, b);
}
