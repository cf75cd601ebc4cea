// Reads rows as nouns, with the column lists that go with them. Every query that returns a noun uses these lists.

import type { BufferRule } from "../flow/plan.ts";
import type { Claim, ClaimState } from "../model/claim.ts";
import { type Decision, type DecisionKind, gatheredKinds, pendingKinds } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { type EndState, openState, type ParkedKind, type RerunFrom, type Run } from "../model/run.ts";
import type { FailedAttempt, Step, StepKind } from "../model/step.ts";
import type { Wait } from "../model/wait.ts";
import { arrivalBytesMax } from "./alerts.ts";
import { previewChars } from "./reads.ts";

export interface EventRow {
  id: string;
  caller_id: string | null;
  name: string;
  data: string;
  ts: number;
  extra: string | null;
  received_at: number;
  stamp: number;
  first_event_id: string | null;
  source_run_id: string | null;
}

export const eventColumns =
  "e.id, e.caller_id, e.name, e.data, e.ts, e.extra, e.received_at, e.stamp, e.first_event_id, e.source_run_id";

/** For `events e`: data that is too long to be compared is left out. */
export const boundedEventColumns = eventColumns.replace(
  "e.data",
  `case when octet_length(e.data) <= ${arrivalBytesMax} then e.data else 'null' end as data`,
);

export const readEvent = (row: EventRow): Event => ({
  id: row.id,
  callerId: row.caller_id,
  name: row.name,
  data: row.data,
  ts: row.ts,
  extra: row.extra,
  receivedAt: row.received_at,
  firstEventId: row.first_event_id,
  sourceRunId: row.source_run_id,
});

const listSql = (texts: readonly string[]): string => texts.map((text) => `'${text}'`).join(", ");

/** As the index of what is pending has them: a kind more is an index anew. */
export const pendingSql = listSql(pendingKinds);
export const gatheredSql = listSql(gatheredKinds);

export interface DecisionRow {
  event_id: string;
  fn: string;
  kind: DecisionKind;
  reason: string | null;
  run_id: string | null;
  key: string | null;
  window_ends_at: number | null;
  first_event_id: string | null;
  decided_at: number;
}

export const readDecision = (row: DecisionRow): Decision => ({
  eventId: row.event_id,
  fn: row.fn,
  kind: row.kind,
  reason: row.reason,
  runId: row.run_id,
  key: row.key,
  windowEndsAt: row.window_ends_at,
  firstEventId: row.first_event_id,
  decidedAt: row.decided_at,
});

export interface ClaimRow {
  scope: string;
  key: string;
  holder: string;
  fence: number;
  generation: string;
  state: ClaimState;
  fingerprint: string | null;
  taken_at: number;
  lease_until: number | null;
  ends_at: number;
  held: number;
  asked: number;
  last_asked_at: number;
  outcome: string | null;
}

export const readClaim = (row: ClaimRow): Claim => ({
  scope: row.scope,
  key: row.key,
  holder: row.holder,
  fence: row.fence,
  generation: row.generation,
  state: row.state,
  fingerprint: row.fingerprint,
  takenAt: row.taken_at,
  leaseUntil: row.lease_until,
  endsAt: row.ends_at,
  held: row.held === 1,
  asked: row.asked,
  lastAskedAt: row.last_asked_at,
  outcome: row.outcome,
});

/** The columns from holder to outcome, in the order of `Claim`. */
export const claimValues = (claim: Claim): (string | number | null)[] => [
  claim.holder,
  claim.fence,
  claim.generation,
  claim.state,
  claim.fingerprint,
  claim.takenAt,
  claim.leaseUntil,
  claim.endsAt,
  claim.held ? 1 : 0,
  claim.asked,
  claim.lastAskedAt,
  claim.outcome,
];

export interface RunRow {
  id: string;
  fn: string;
  event_id: string;
  key: string | null;
  subject: string;
  generation: string;
  previous_run_id: string | null;
  rerun_of: string | null;
  root_run_id: string;
  newest_run_id: string | null;
  ended_state: EndState | null;
  result: string | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  ended_fence: number | null;
  /** JSON of RerunFrom. */
  rerun_from: string | null;
  /** JSON of RunMemo.inputs. */
  inputs: string | null;
  /** Number of events it carries; null for one that was not batched. */
  carried: number | null;
  singleton: string | null;
  code: string | null;
  /** From the run's job, without which all of them are null. */
  leased_by: string | null;
  due_at: number | null;
  parked_at: number | null;
  parked_kind: ParkedKind | null;
  parked_reason: string | null;
  lost_workers: number | null;
  lost_by: string | null;
  lost_at: number | null;
}

/** Columns of a run's job that describe the run. */
export const jobOfRunColumns =
  "leased_by, due_at, parked_at, parked_kind, parked_reason, lost_workers, lost_by, lost_at";

/** The run that answers for a taken key. */
export interface KeyAnswer {
  readonly runId: string;
  readonly ended: EndState | null;
  readonly firstEventId: string | null;
}

/** What an event's decision says to later events with the same id. */
export interface EventAnswer {
  readonly fn: string;
  readonly runId: string | null;
  readonly key: string | null;
}

/** The event that duplicates are compared with. */
export type FirstEvent = Pick<EventRow, "id" | "name" | "data">;

/** For `from runs r left join jobs j on j.env = r.env and j.id = r.id`. */
export const runColumns = `r.id, r.fn, r.event_id, r.key, r.subject, r.generation, r.previous_run_id, r.rerun_of, r.root_run_id,
  r.newest_run_id, r.ended_state, r.result, r.created_at, r.started_at, r.ended_at, r.ended_fence, r.rerun_from,
  r.inputs, r.carried, r.singleton, r.code, ${jobOfRunColumns.replaceAll(/\w+/g, "j.$&")}`;

/** The same where a list shows the beginning of a result, which can be megabytes. */
export const summaryColumns = runColumns.replace("r.result", `substr(r.result, 1, ${previewChars}) as result`);

export const decisionColumns =
  "d.event_id, d.fn, d.kind, d.reason, d.run_id, d.key, d.window_ends_at, d.first_event_id, d.decided_at";

/** The run got on: workers lost before no longer count. */
export const forgetLostSql =
  "update jobs set lost_workers = 0, lost_by = null, lost_at = null, enter_at = null where env = ? and id = ?";

/** For `jobs j`, in the words of both databases. */
export const openStateSql = `case when j.leased_by is not null then 'running' when j.parked_at is not null then 'parked'
  when j.due_at is null then 'queued' else 'waiting' end`;

/**
 * For `runs r`: whether it took the key of a run that failed or was cancelled and gave it back by itself (`afterFailure: "release"`). A key
 * that a hand released meanwhile is in the audit.
 */
export const isAfterFailure = `(r.key is not null and r.carried is null and r.generation <> r.id and exists (
    select 1 from runs p
     where p.env = r.env and p.id = r.previous_run_id and p.ended_state in ('failed', 'cancelled') and p.ended_at <= r.created_at
       and not exists (select 1 from audit a
                        where a.env = r.env and a.action = 'release-key' and a.subject = 'fn:' || r.fn || ' ' || r.key
                          and a.at >= p.created_at and a.at <= r.created_at)))`;

export const readRun = (row: RunRow): Run => ({
  id: row.id,
  fn: row.fn,
  eventId: row.event_id,
  key: row.key,
  subject: row.subject,
  generation: row.generation,
  previousRunId: row.previous_run_id,
  rerunOf: row.rerun_of,
  rerunFrom: row.rerun_from === null ? null : (JSON.parse(row.rerun_from) as RerunFrom),
  code: row.code,
  // An open run's state follows from its job; only the end is a fact of the run itself.
  state: row.ended_state ?? openState({ leasedBy: row.leased_by, dueAt: row.due_at, parkedAt: row.parked_at }),
  result: row.result,
  createdAt: row.created_at,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  dueAt: row.due_at,
  parked: row.parked_at === null ? null : { kind: row.parked_kind!, reason: row.parked_reason!, at: row.parked_at },
  // A worker lost under a version before this one left no name.
  lost: row.lost_workers
    ? { count: row.lost_workers, worker: row.lost_by ?? "", at: row.lost_at ?? row.created_at }
    : null,
});

export interface StepRow {
  step_id: string;
  name: string;
  repeat: number;
  kind: StepKind;
  outcome: "value" | "error";
  json: string;
  attempt: number;
  started_at: number;
  ended_at: number;
  stamp: number;
  worker: string | null;
}

export const readStep = (row: StepRow): Step => ({
  stepId: row.step_id,
  name: row.name,
  repeat: row.repeat,
  kind: row.kind,
  outcome: { kind: row.outcome, json: row.json },
  attempt: row.attempt,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  stamp: row.stamp,
  worker: row.worker,
});

export interface AttemptRow {
  step_id: string;
  name: string;
  attempt: number;
  error: string;
  started_at: number;
  ended_at: number;
  retry_at: number;
  stamp: number;
  worker: string | null;
}

export const readAttempt = (row: AttemptRow): FailedAttempt => ({
  stepId: row.step_id,
  name: row.name,
  attempt: row.attempt,
  error: row.error,
  startedAt: row.started_at,
  endedAt: row.ended_at,
  retryAt: row.retry_at,
  stamp: row.stamp,
  worker: row.worker,
});

export interface WaitRow {
  run_id: string;
  step_id: string;
  kind: Wait["kind"];
  step_kind: StepKind;
  name: string;
  repeat: number;
  timeout_at: number | null;
  on_timeout: "value" | "error";
  on_timeout_json: string;
  event_name: string | null;
  rest: string | null;
  signal: string | null;
  child_run_id: string | null;
  started_at: number;
}

export const waitColumns = `run_id, step_id, kind, step_kind, name, repeat, timeout_at, on_timeout, on_timeout_json, event_name, rest,
  signal, child_run_id, started_at`;

export const readWait = (row: WaitRow): Wait => ({
  runId: row.run_id,
  stepId: row.step_id,
  name: row.name,
  kind: row.kind,
  stepKind: row.step_kind,
  timeoutAt: row.timeout_at,
  eventName: row.event_name,
  rest: row.rest,
  signal: row.signal,
  childRunId: row.child_run_id,
  startedAt: row.started_at,
});

export const alertColumns = `
  id, kind, fn, about, subject, state, first_at as "firstAt", last_at as "lastAt", pair_count as "pairCount", facts,
  judged_by as "judgedBy", judged_at as "judgedAt", note, muted_until as "mutedUntil"`;

export interface BufferRow {
  fn: string;
  kind: BufferRule["kind"];
  key: string;
  id: string;
  deadline: number | null;
  due_at: number;
  count: number;
  bytes: number;
  event_id: string | null;
  ts: number | null;
  pair: string | null;
}
