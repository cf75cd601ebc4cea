// Everything a worker needs to go on with a run, read after the lease was taken and never before:
// an old worker's last save must be either in this memo or refused (docs/reference/stores.md#saves-and-takeovers).

import type { RunMemo } from "../leases.ts";
import {
  type AttemptRow,
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
import type { Connection } from "./connection.ts";

const selectRunSql = `
  select ${runColumns}
    from runs r left join jobs j on j.env = r.env and j.id = r.id
   where r.env = ? and r.id = ?`;

const selectEventSql = `select ${eventColumns} from events e where e.env = ? and e.id = ?`;

const selectStepsSql = `
  select step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker
    from steps where env = ? and run_id = ? order by stamp`;

const selectAttemptsSql = `
  select step_id, name, attempt, error, started_at, ended_at, retry_at, stamp, worker
    from attempts where env = ? and run_id = ? order by stamp`;

const selectWaitsSql = `
  select ${waitColumns}
    from waits where env = ? and run_id = ? order by stamp`;

export const findRun = (connection: Connection, env: string, runId: string): Promise<RunRow | undefined> =>
  connection.one<RunRow>(selectRunSql, env, runId);

export const findEvent = (connection: Connection, env: string, eventId: string): Promise<EventRow | undefined> =>
  connection.one<EventRow>(selectEventSql, env, eventId);

const selectCarriedSql = `
  select ${eventColumns}
    from run_events b cross join lateral (select * from events where env = b.env and id = b.event_id limit 1) e
   where b.env = ? and b.run_id = ? order by b.n`;

/** After a rerun, whoever asks again receives the newest run. */
export async function newestRerun(connection: Connection, env: string, runId: string): Promise<string> {
  const run = await findRun(connection, env, runId);
  if (run === undefined) return runId;
  const root = run.root_run_id === runId ? run : await findRun(connection, env, run.root_run_id);
  return root?.newest_run_id ?? runId;
}

const eventOfKeySql = "select event_id from run_events where env = ? and run_id = ? and key = ?";

/** The newest run that answers for the key, how it ended, and the event it was let in for: in a batch not always the first one. */
export async function answersForKey(
  connection: Connection,
  env: string,
  holder: string,
  key: string,
): Promise<KeyAnswer> {
  const runId = await newestRerun(connection, env, holder);
  const run = await findRun(connection, env, runId);
  if (run === undefined) return { runId, ended: null, firstEventId: null };
  const carried =
    run.carried === null ? undefined : await connection.one<{ event_id: string }>(eventOfKeySql, env, runId, key);
  return { runId, ended: run.ended_state, firstEventId: carried?.event_id ?? run.event_id };
}

export const waitsOfRun = (connection: Connection, env: string, runId: string): Promise<WaitRow[]> =>
  connection.all<WaitRow>(selectWaitsSql, env, runId);

export const stepsOfRun = (connection: Connection, env: string, runId: string): Promise<StepRow[]> =>
  connection.all<StepRow>(selectStepsSql, env, runId);

export const readInputs = ({ inputs }: Pick<RunRow, "inputs">): RunMemo["inputs"] =>
  inputs === null ? {} : (JSON.parse(inputs) as Record<string, string>);

export async function readMemo(connection: Connection, env: string, runId: string): Promise<RunMemo | null> {
  // Sent together, answered in order: one round trip, and each later one sees what is committed by then.
  const [run, steps, attempts, waits, carried] = await Promise.all([
    findRun(connection, env, runId),
    stepsOfRun(connection, env, runId),
    connection.all<AttemptRow>(selectAttemptsSql, env, runId),
    waitsOfRun(connection, env, runId),
    connection.all<EventRow>(selectCarriedSql, env, runId),
  ]);
  if (run === undefined) return null;
  const event = await findEvent(connection, env, run.event_id);
  if (event === undefined) return null;
  const first = readEvent(event);
  return {
    run: readRun(run),
    event: first,
    events: run.carried === null ? [first] : carried.map(readEvent),
    steps: steps.map(readStep),
    attempts: attempts.map(readAttempt),
    waits: waits.map(readWait),
    inputs: readInputs(run),
  };
}
