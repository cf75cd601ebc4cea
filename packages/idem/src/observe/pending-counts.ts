// Counts the events of each function that wait to be decided, for lists of functions.
import { type PendingKind, pendingKinds } from "../model/decision.ts";
import type { DecisionCursor, StoreReads } from "../store/reads.ts";

export type PendingCounts = Readonly<Record<PendingKind, number>> & {
  /** False when there are more than were counted. */
  readonly isAll: boolean;
};

// Beyond it nobody needs the exact number of one function.
const countedMax = 10_000;
const pageSize = 500;

export const pendingCount = (counts: PendingCounts): number =>
  pendingKinds.reduce((sum, kind) => sum + counts[kind], 0);

/** By function; a function without any has all zeros. With `fn`, only that one is counted. */
export async function countPending(
  reads: Pick<StoreReads, "decisionPage">,
  env: string,
  fn?: string,
): Promise<(fn: string) => PendingCounts> {
  const byFunction = new Map<string, Record<PendingKind, number>>();
  const none = (): Record<PendingKind, number> =>
    Object.fromEntries(pendingKinds.map((kind) => [kind, 0])) as Record<PendingKind, number>;
  let before: DecisionCursor | null = null;
  let counted = 0;
  do {
    const page: Awaited<ReturnType<StoreReads["decisionPage"]>> = await reads.decisionPage(env, {
      isPending: true,
      limit: pageSize,
      examinedMax: Number.MAX_SAFE_INTEGER,
      ...(fn === undefined ? {} : { fn }),
      ...(before === null ? {} : { before }),
    });
    for (const decision of page.rows) {
      const counts = byFunction.get(decision.fn) ?? none();
      counts[decision.kind as PendingKind] += 1;
      byFunction.set(decision.fn, counts);
    }
    counted += page.rows.length;
    before = page.next;
  } while (before !== null && counted < countedMax);
  const isAll = before === null;
  return (name) => ({ ...(byFunction.get(name) ?? none()), isAll });
}
