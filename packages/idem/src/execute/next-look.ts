// When a pass that still runs something must look at what is blocked or waiting beside it. Pure.
import type { Memo } from "./memo.ts";
import type { Op } from "./operation.ts";

// An event that another node delivers is not announced here: a look each second finds it.
const lookMs = 1_000;

export const earliest = (times: readonly (number | null)[]): number | null =>
  times.reduce((a, b) => (a === null ? b : b === null ? a : Math.min(a, b)), null);

export const nextRetryAt = (open: ReadonlyMap<string, Op>): number | null =>
  earliest([...open.values()].map((op) => op.blockedUntil));

export function nextLook(
  open: ReadonlyMap<string, Op>,
  memo: Memo,
  now: number,
): { readonly at: number; readonly waitsOpen: boolean } | null {
  const waitsOpen = [...open.keys()].some((stepId) => memo.isWaiting(stepId));
  const ends = waitsOpen ? memo.timeouts.filter((at) => at !== null && at > now) : [];
  const at = earliest([nextRetryAt(open), waitsOpen ? now + lookMs : null, ...ends]);
  return at === null ? null : { at, waitsOpen };
}
