import { askClaim, type Claim, type ClaimAsk, type Instant } from "../../model/claim.ts";

/**
 * Who waited for a key's lock began before the one who had it, and has an older instant: the key is judged no earlier than it was taken, or
 * a window that is over would look like one that is yet to begin. Where one writer is at work nobody waits, and nothing is late.
 */
export function askFor(at: Instant, found: Claim | null, ask: ClaimAsk): { taken: boolean; claim: Claim } {
  const lateMs = found === null ? 0 : found.takenAt - at.now;
  if (lateMs <= 0) return askClaim(found, ask, at);
  return askClaim(found, ask, {
    ...at,
    now: at.now + lateMs,
    windowNow: (takenAt) => at.windowNow(takenAt) + lateMs,
  });
}
