// Bulk work a page of runs at a time, for the command line, which has to hear of it soon and may stop. The same
// page, only looked at, is a dry run.
import type { Work } from "../../model/turns.ts";
import type { Engine } from "../engine.ts";
import { actOnRun, type BulkOrder, judgeRuns, runsAtOnce } from "./act-on-runs.ts";
import { type LeftOut, oneLeftOut, withLeftOut } from "./left-out.ts";
import { type RunReading, type RunSelection, selectRuns } from "./select-runs.ts";

export interface BulkPart {
  readonly matchedCount: number;
  /** Done, or what would be. */
  readonly doneCount: number;
  readonly leftOut: readonly LeftOut[];
  readonly failures: readonly { readonly runId: string; readonly error: string }[];
  /** When the oldest of them was opened; null when there is none. */
  readonly oldestAt: number | null;
  /** For the next part; null when this was the last. */
  readonly next: string | null;
}

const failuresShown = 10;

export const emptyPart: BulkPart = {
  matchedCount: 0,
  doneCount: 0,
  leftOut: [],
  failures: [],
  oldestAt: null,
  next: null,
};

type Order = Omit<BulkOrder, "reason">;

/** Says what the part would do. Nothing is done. */
export async function lookAtPart(
  reading: RunReading & { readonly now: number },
  order: Order,
  selection: RunSelection,
  before: string | null,
  work: Work,
): Promise<BulkPart> {
  const { rows, next } = await selectRuns(reading, selection, before, work);
  const whys = await judgeRuns(reading, order, rows, reading.now);
  let leftOut: readonly LeftOut[] = [];
  for (const [runId, why] of whys) leftOut = withLeftOut(leftOut, oneLeftOut(why, runId));
  return {
    matchedCount: rows.length,
    doneCount: rows.length - whys.size,
    leftOut,
    failures: [],
    oldestAt: rows.length === 0 ? null : Math.min(...rows.map(({ createdAt }) => createdAt)),
    next,
  };
}

/** Repeat: what was done is found done. The first part keeps the one entry in the audit, before anything is done. */
export async function doPart(
  engine: Engine,
  order: BulkOrder,
  selection: RunSelection,
  before: string | null,
): Promise<BulkPart> {
  const { store, env } = engine;
  if (before === null) {
    const { id, action, reason, actor } = order;
    await store.audit({ env, action: "start-bulk", subject: id, reason: `${action}: ${reason}`, actor });
  }
  const reading = readingOf(engine);
  const { rows, next } = await selectRuns(reading, selection, before, engine.work());
  let { doneCount, leftOut, failures } = emptyPart;
  for (let i = 0; i < rows.length; i += runsAtOnce) {
    const some = rows.slice(i, i + runsAtOnce);
    const whys = await judgeRuns(reading, order, some, engine.now());
    await Promise.all(
      some.map(async (run) => {
        try {
          const why = whys.get(run.id);
          const acted = why === undefined ? await actOnRun(engine, order, run) : ({ kind: "left-out", why } as const);
          if (acted.kind === "done") doneCount += 1;
          else leftOut = withLeftOut(leftOut, oneLeftOut(acted.why, run.id));
        } catch (error) {
          failures = [...failures, { runId: run.id, error: error instanceof Error ? error.message : String(error) }];
        }
      }),
    );
  }
  const oldestAt = rows.length === 0 ? null : Math.min(...rows.map(({ createdAt }) => createdAt));
  return { matchedCount: rows.length, doneCount, leftOut, failures, oldestAt, next };
}

export const readingOf = ({ store, env, registry }: Engine): RunReading => ({
  reads: store.reads,
  env,
  fullName: (fn) => registry.fullName(fn),
});

/** Two parts as one. */
export function together(a: BulkPart, b: BulkPart): BulkPart {
  const oldest = [a.oldestAt, b.oldestAt].filter((at) => at !== null);
  return {
    matchedCount: a.matchedCount + b.matchedCount,
    doneCount: a.doneCount + b.doneCount,
    leftOut: b.leftOut.reduce(withLeftOut, a.leftOut),
    failures: [...a.failures, ...b.failures].slice(0, failuresShown),
    oldestAt: oldest.length === 0 ? null : Math.min(...oldest),
    next: b.next,
  };
}
