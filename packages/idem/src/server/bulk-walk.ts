// One bulk work goes over its runs: page by page, so many at once, as fast as was asked. A store that is busy is waited for.
import { actOnRun, judgeRuns, runsAtOnce } from "../engine/bulk/act-on-runs.ts";
import { readingOf } from "../engine/bulk/bulk-part.ts";
import { type BulkAction, type LeftOutReason, oneLeftOut, withLeftOut } from "../engine/bulk/left-out.ts";
import { type RunSelection, selectRuns } from "../engine/bulk/select-runs.ts";
import type { Engine } from "../engine/engine.ts";
import { IdemError } from "../model/errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { RunSummary } from "../store/reads.ts";
import type { BulkFilter, Work } from "./bulk-progress.ts";
import { readInstant } from "./read-input.ts";

const failuresShown = 10;
// Of runs that reruns made: how many are remembered.
const begunMax = 10_000;
// A store that is busy or restarting is waited for; one that stays away ends the work.
const patience = { tries: 5, pauseMs: 1_000 };

interface Walk {
  readonly engine: Engine;
  /** Told of every run as it is done. */
  readonly work: Work;
  readonly platform: Platform;
  readonly isStopping: () => boolean;
}

/** To the last run, or until the work is stopped, lost, or its process stops. */
export async function walkRuns(walk: Walk): Promise<void> {
  const { engine, work, platform } = walk;
  const selection = selectionOf(work.action!, work.filter, work.startedAt);
  const reading = readingOf(engine);
  const { pace } = work;
  const atOnce = pace === null ? runsAtOnce : Math.min(pace, runsAtOnce);
  const isOver = (): boolean => work.isCancelled || work.isLost || walk.isStopping();
  let before: string | null = null;
  while (!isOver()) {
    const { rows, next } = await patiently(walk, () => selectRuns(reading, selection, before, engine.work()));
    for (let i = 0; i < rows.length && !isOver(); i += atOnce) {
      const some = rows.slice(i, i + atOnce);
      const order = { ...work, action: work.action! };
      const whys = await patiently(walk, () => judgeRuns(reading, order, some, engine.now()));
      work.matchedCount += some.length;
      await Promise.all(some.map((run) => performOne(walk, run, whys.get(run.id))));
      const isLast = next === null && i + atOnce >= rows.length;
      // Runs that are left out take no time.
      if (pace !== null && !isLast) await pause(platform, ((some.length - whys.size) * 1_000) / pace);
    }
    if (next === null) return;
    before = next;
  }
}

async function performOne(walk: Walk, run: RunSummary, why: LeftOutReason | undefined): Promise<void> {
  const { engine, work } = walk;
  const leaveOut = (reason: LeftOutReason): void => {
    work.skippedCount += 1;
    work.leftOut = withLeftOut(work.leftOut, oneLeftOut(reason, run.id));
  };
  if (why !== undefined) return leaveOut(why);
  try {
    const order = { ...work, action: work.action! };
    const acted = await patiently(walk, () => actOnRun(engine, order, run));
    if (acted.kind === "left-out") return leaveOut(acted.why);
    work.doneCount += 1;
    if (acted.runId !== null && work.begun.size < begunMax) work.begun.set(acted.runId, "queued");
  } catch (error) {
    // Without a store nothing of the rest can succeed either.
    if (isPassing(error)) throw error;
    work.failedCount += 1;
    if (work.failures.length < failuresShown) {
      work.failures = [...work.failures, { runId: run.id, error: messageOf(error) }];
    }
  }
}

async function patiently<T>({ platform, isStopping }: Walk, act: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await act();
    } catch (error) {
      if (!isPassing(error) || tries === patience.tries || isStopping()) throw error;
    }
    await pause(platform, patience.pauseMs);
  }
}

export const selectionOf = (
  action: BulkAction,
  { since, until, ...filter }: BulkFilter,
  openedBefore: number,
): RunSelection => ({
  ...filter,
  ...(since === undefined ? {} : { since: readInstant("since", since, openedBefore) }),
  until: until === undefined ? openedBefore : Math.min(readInstant("until", until, openedBefore), openedBefore),
  // Runs that were named one by one are told apart by whether they have ended.
  onlyOpen: action === "cancel" && filter.ids === undefined,
});

export async function pause(platform: Platform, ms: number): Promise<void> {
  if (ms > 0) await new Promise<void>((resolve) => platform.timer(ms, resolve));
}

const isPassing = (error: unknown): boolean => error instanceof IdemError && error.retry === "later";

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
