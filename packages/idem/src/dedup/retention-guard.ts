// Whether an effect that was tried before may be sent again with the same key. A destination that has forgotten the key would take the
// request for a new one, and do it twice.
//
//   first try within its memory ──▶ send        beyond, and there is a look-up ──▶ reconcile        beyond, and there is none ──▶ park
import type { AnyDestination } from "./destination.ts";

/** So long after a try a look-up surely finds it, unless its author says otherwise: a moment after the try it need not be listed yet. */
export const reconcileAfterMsDefault = 60_000;

export type MayResend = "send" | "reconcile" | "park";

const minute = 60_000;
// Its clock is not ours, and a request is on its way for a while.
const marginPart = 0.1;
const marginMin = minute;
// Where nothing is published: no key that is remembered at all was found to be forgotten sooner, but for those that say so.
const unpublishedMs = 60 * minute;

/** An effect may be sent again for this long after its first try. Not a positive number where it never may. */
export function resendsWithinMs({ remembersMs }: Pick<AnyDestination, "remembersMs">): number {
  if (remembersMs === null) return unpublishedMs;
  return remembersMs === Number.POSITIVE_INFINITY
    ? remembersMs
    : remembersMs - Math.max(remembersMs * marginPart, marginMin);
}

export function mayResend(of: {
  readonly destination: Pick<AnyDestination, "remembersMs">;
  /** By one clock, as `now`. */
  readonly firstTriedAt: number;
  readonly now: number;
  readonly hasReconcile: boolean;
}): MayResend {
  const { destination, firstTriedAt, now, hasReconcile } = of;
  if (now - firstTriedAt < resendsWithinMs(destination)) return "send";
  return hasReconcile ? "reconcile" : "park";
}
