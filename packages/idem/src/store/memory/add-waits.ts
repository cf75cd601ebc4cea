// A run begins to wait. What is already decided is recorded at once instead: a signal that is taken, a child that has ended,
// a child that was refused.
import { type Decision, isPending } from "../../model/decision.ts";
import type { Outcome } from "../../model/step.ts";
import { type NewWait, standInFor } from "../../model/wait.ts";
import type { NestedIngest } from "../advance.ts";
import { endOutcome } from "./end-run.ts";
import { replaceWait } from "./end-wait.ts";
import { answeringRun, notStarted } from "./record-decision.ts";
import { copyOutcome, findStep, recordStep } from "./record-step.ts";
import { runOf } from "./show.ts";
import type { Moment, Tables, WaitRow } from "./tables.ts";

/** Answers how many were decided at once. A wait already there, or already over, stays as it is. */
export function addWaits(
  tables: Tables,
  at: Moment,
  runId: string,
  waits: readonly NewWait[],
  nested: NestedIngest | null,
): number {
  let decidedCount = 0;
  for (const wait of waits) {
    if (tables.waitsOf(runId).some((other) => other.stepId === wait.stepId)) continue;
    if (findStep(tables, runId, wait.stepId) !== undefined) continue;
    const added = addWait(tables, at, runId, wait, nested);
    if (added === null) continue;
    const step = { ...wait, ...added, kind: wait.stepKind, attempt: 1, startedAt: at.now, endedAt: at.now };
    recordStep(tables, at, runId, step, null);
    decidedCount += 1;
  }
  return decidedCount;
}

interface Decided {
  readonly outcome: Outcome;
  readonly childRunId?: string;
}

/** Null when the run now waits, else the outcome to record. */
function addWait(
  tables: Tables,
  at: Moment,
  runId: string,
  wait: NewWait,
  nested: NestedIngest | null,
): Decided | null {
  const row: WaitRow = {
    runId,
    stepId: wait.stepId,
    name: wait.name,
    repeat: wait.repeat,
    kind: wait.kind,
    stepKind: wait.stepKind,
    timeoutAt: wait.timeoutAt,
    onTimeout: copyOutcome(wait.onTimeout),
    eventName: null,
    path: "",
    value: "",
    rest: null,
    signal: null,
    childRunId: null,
    startedAt: at.now,
    stamp: at.stamp(),
    input: wait.input ?? null,
  };
  const begin = (more: Partial<WaitRow>): null => {
    tables.waits.put(runId, [...tables.waitsOf(runId), { ...row, ...more }]);
    return null;
  };
  switch (wait.kind) {
    case "time":
      return begin({});
    case "event":
      return begin({ eventName: wait.eventName, path: wait.path, value: wait.value, rest: wait.rest });
    case "signal": {
      const [holder] = tables.findWaits((other) => other.signal === wait.signal);
      if (holder !== undefined && wait.onTaken !== "replace") return { outcome: wait.onTaken };
      // The one who loses its signal goes on waiting, until its timeout.
      if (holder !== undefined) replaceWait(tables, holder, { ...holder, signal: null });
      return begin({ signal: wait.signal });
    }
    case "run": {
      const decision = decisionOf(tables, nested, wait.pair);
      if (decision === undefined) return { outcome: wait.onRefused };
      // No run yet: the event's next decision says what is waited for.
      if (isPending(decision)) return begin({ childRunId: standInFor(decision.eventId, decision.fn) });
      const childRunId = answeringRun(tables, decision);
      const isStart = nested?.pairs[wait.pair]?.kind === "start";
      if (childRunId === null) return { outcome: isStart ? notStarted(decision) : wait.onRefused };
      const outcome = endOutcome(runOf(tables, childRunId));
      return outcome === null ? begin({ childRunId }) : { outcome, childRunId };
    }
  }
}

/** The decision on a pair of the same patch. */
function decisionOf(tables: Tables, nested: NestedIngest | null, index: number): Decision | undefined {
  const pair = nested?.pairs[index];
  const event = pair === undefined ? undefined : nested?.events[pair.event];
  return pair === undefined || event === undefined ? undefined : tables.decision(event.id, pair.fn);
}
