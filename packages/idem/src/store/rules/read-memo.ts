// Everything a worker needs to go on with a run, read after the lease was taken and never before: an old worker's last save must be
// either in this memo or refused (docs/reference/stores.md#saves-and-takeovers).
import { dataInput } from "../../model/run.ts";
import type { RunMemo } from "../leases.ts";
import {
  type AttemptRow,
  type DecisionRow,
  type EventAnswer,
  type EventRow,
  eventColumns,
  type KeyAnswer,
  type RunRow,
  readAttempt,
  readEvent,
  readRun,
  readStep,
  readWait,
  runColumns,
  type StepRow,
  type WaitRow,
  waitColumns,
} from "../rows.ts";
import type { Database } from "./database.ts";
import { type Asked, Given, type Rule } from "./rule.ts";

const selectRunSql = `
  select ${runColumns}
    from runs r left join jobs j on j.env = r.env and j.id = r.id
   where r.env = ? and r.id = ?`;
const selectEventSql = `select ${eventColumns} from events e where e.env = ? and e.id = ?`;
/** For `steps`. */
export const stepColumns = "step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker";
/** For `attempts`. */
export const attemptColumns = "step_id, name, attempt, error, started_at, ended_at, retry_at, stamp, worker";
const selectStepsSql = `select ${stepColumns} from steps where env = ? and run_id = ? order by stamp`;
const selectAttemptsSql = `select ${attemptColumns} from attempts where env = ? and run_id = ? order by stamp`;
const selectWaitsSql = `
  select ${waitColumns}
    from waits where env = ? and run_id = ? order by stamp`;
const selectDecisionsSql = `
  select event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at
    from decisions where env = ? and event_id = ? order by fn`;
const eventOfKeySql = "select event_id from run_events where env = ? and run_id = ? and key = ?";

export const findRun = (db: Database, env: string, runId: string): Asked<RunRow | undefined> =>
  db.one<RunRow>(selectRunSql, env, runId);

export const findEvent = (db: Database, env: string, eventId: string): Asked<EventRow | undefined> =>
  db.one<EventRow>(selectEventSql, env, eventId);

export const decisionsOfEvent = (db: Database, env: string, eventId: string): Asked<DecisionRow[]> =>
  db.all<DecisionRow>(selectDecisionsSql, env, eventId);

export const waitsOfRun = (db: Database, env: string, runId: string): Asked<WaitRow[]> =>
  db.all<WaitRow>(selectWaitsSql, env, runId);

export const stepsOfRun = (db: Database, env: string, runId: string): Asked<StepRow[]> =>
  db.all<StepRow>(selectStepsSql, env, runId);

/** After a rerun, later askers receive the newest run. */
export function* newestRerun(db: Database, env: string, runId: string): Rule<string> {
  const run = yield* findRun(db, env, runId);
  if (run === undefined) return runId;
  const root = run.root_run_id === runId ? run : yield* findRun(db, env, run.root_run_id);
  return root?.newest_run_id ?? runId;
}

/** The newest run that answers for the key, how it ended, and the event it was let in for: in a batch not always the first one. */
export function* answersForKey(db: Database, env: string, holder: string, key: string): Rule<KeyAnswer> {
  const runId = yield* newestRerun(db, env, holder);
  const run = yield* findRun(db, env, runId);
  if (run === undefined) return { runId, ended: null, firstEventId: null };
  const carried =
    run.carried === null ? undefined : yield* db.one<{ event_id: string }>(eventOfKeySql, env, runId, key);
  return { runId, ended: run.ended_state, firstEventId: carried?.event_id ?? run.event_id };
}

/** For each function that the first event of an id was decided for: the newest run that answers for it. */
export function* answersForEvent(db: Database, env: string, eventId: string): Rule<readonly EventAnswer[]> {
  const answers: EventAnswer[] = [];
  for (const { fn, run_id, key } of yield* decisionsOfEvent(db, env, eventId)) {
    answers.push({ fn, runId: run_id === null ? null : yield* newestRerun(db, env, run_id), key });
  }
  return answers;
}

export const readInputs = ({ inputs }: Pick<RunRow, "inputs">): RunMemo["inputs"] =>
  inputs === null ? {} : (JSON.parse(inputs) as Record<string, string>);

export function* readMemo(db: Database, env: string, runId: string): Rule<RunMemo | null> {
  // One round trip, in which each later one sees what is committed by then.
  const [run, steps, attempts, waits] = yield* db.together<[RunRow | undefined, StepRow[], AttemptRow[], WaitRow[]]>(
    findRun(db, env, runId),
    stepsOfRun(db, env, runId),
    db.all<AttemptRow>(selectAttemptsSql, env, runId),
    waitsOfRun(db, env, runId),
  );
  if (run === undefined) return null;
  const [event, carried] = yield* db.together<[EventRow | undefined, EventRow[]]>(
    findEvent(db, env, run.event_id),
    run.carried === null ? none : db.all<EventRow>(db.sql.memo.carried, env, runId),
  );
  if (event === undefined) return null;
  return memoOf({ run, event, carried, steps, attempts, waits });
}

const none: Asked<EventRow[]> = new Given([]);

/** The rows that a memo is made of. */
export interface MemoRows {
  readonly run: RunRow;
  readonly event: EventRow;
  /** Of a batch, in their order. */
  readonly carried: readonly EventRow[];
  readonly steps: readonly StepRow[];
  readonly attempts: readonly AttemptRow[];
  readonly waits: readonly WaitRow[];
}

export function memoOf({ run, event, carried, steps, attempts, waits }: MemoRows): RunMemo {
  const first = readEvent(event);
  const memo: RunMemo = {
    run: readRun(run),
    event: first,
    events: run.carried === null ? [first] : carried.map(readEvent),
    steps: steps.map(readStep),
    attempts: attempts.map(readAttempt),
    waits: waits.map(readWait),
    inputs: readInputs(run),
  };
  return memo.inputs[dataInput] === undefined ? memo : withOtherData(memo, run);
}

/** The memo with a person's data in place of the event's. */
function withOtherData(memo: RunMemo, { carried }: RunRow): RunMemo {
  const { [dataInput]: data, ...inputs } = memo.inputs;
  const event = { ...memo.event, data: data! };
  return { ...memo, hasOtherData: true, event, events: carried === null ? [event] : memo.events, inputs };
}
