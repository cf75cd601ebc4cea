// Whether a request is the one whose fingerprint an event carries.
import { timingSafeEqual } from "node:crypto";
import type { Fingerprint } from "../../keys/key-store.ts";

/** By the algorithm the event was written with; one that is not known here cannot be compared, and is another request. */
export function isSameFingerprint(written: Fingerprint | undefined, asked: readonly Fingerprint[]): boolean {
  const same = asked.find(({ version }) => version === written?.version);
  if (same === undefined || typeof written?.value !== "string") return false;
  const [a, b] = [Buffer.from(written.value), Buffer.from(same.value)];
  return a.length === b.length && timingSafeEqual(a, b);
}
