// A run that begins, its job, and what asks for it.

import { unlimited } from "../../flow/lane.ts";
import type { RunFlow } from "../../flow/plan.ts";
import type { Event } from "../../model/event.ts";
import type { RerunFrom, Run } from "../../model/run.ts";
import type { NewEvent, NewPair, StartPair } from "../ingest.ts";

export interface NewRun extends RunFlow {
  readonly id: string;
  readonly fn: string;
  readonly eventId: string;
  readonly key: string | null;
  readonly subject: string;
  readonly generation: string;
  readonly previousRunId: string | null;
  readonly rerunOf: string | null;
  readonly rerunFrom: RerunFrom | null;
  readonly inputs: Readonly<Record<string, string>>;
  readonly rootRunId: string;
  readonly rank: number;
  readonly dueAt: number | null;
  readonly leaseTo: string | null;
  /** Of the worker it is leased to. */
  readonly code: string | null;
  /** Its end lets go of the key's claim. */
  readonly holdsKey: boolean;
  /** The events of a batch, with the key each was let in for; null for a run of one event. */
  readonly carried: readonly { readonly eventId: string; readonly key: string | null }[] | null;
  /** Of the decision that it tells, where none is kept beside it. */
  readonly windowEndsAt?: number | null;
}

/** As they are stored; nearly every run has none. */
const keptInputs = ({ rerunFrom, inputs }: Pick<NewRun, "rerunFrom" | "inputs">): string | null =>
  rerunFrom === null && Object.keys(inputs).length === 0 ? null : JSON.stringify(inputs);

export const runColumns = {
  env: "text",
  id: "text",
  fn: "text",
  event_id: "text",
  key: "text",
  subject: "text",
  generation: "text",
  previous_run_id: "text",
  rerun_of: "text",
  root_run_id: "text",
  created_at: "bigint",
  started_at: "bigint",
  holds_key: "int",
  rerun_from: "text",
  inputs: "text",
  singleton: "text",
  carried: "int",
  code: "text",
} as const;

export const runValues = (env: string, run: NewRun, begins: boolean, now: number) =>
  [
    env,
    run.id,
    run.fn,
    run.eventId,
    run.key,
    run.subject,
    run.generation,
    run.previousRunId,
    run.rerunOf,
    run.rootRunId,
    now,
    begins ? now : null,
    run.holdsKey ? 1 : 0,
    run.rerunFrom === null ? null : JSON.stringify(run.rerunFrom),
    keptInputs(run),
    run.singleton,
    run.carried?.length ?? null,
    begins ? run.code : null,
  ] as const;

export interface OpenedRun {
  readonly run: Run;
  /** Set when the job was born leased. */
  readonly fence: number | null;
}

export interface NewJob {
  readonly id: string;
  readonly kind: "run" | "deliver" | "announce";
  readonly runId: string | null;
  readonly eventId: string | null;
  readonly fn: string | null;
  readonly rank: number;
  readonly dueAt: number | null;
  readonly fence: number;
  readonly leasedBy: string | null;
  readonly lane: string | null;
  readonly startBy: number | null;
  readonly hadWaits: boolean;
}

export const jobColumns = {
  env: "text",
  id: "text",
  kind: "text",
  run_id: "text",
  event_id: "text",
  fn: "text",
  rank: "bigint",
  due_at: "bigint",
  fence: "bigint",
  leased_by: "text",
  lane: "text",
  start_by: "bigint",
  had_waits: "int",
  born_leased: "int",
} as const;

export const jobValues = (env: string, job: NewJob) =>
  [
    env,
    job.id,
    job.kind,
    job.runId,
    job.eventId,
    job.fn,
    job.rank,
    job.dueAt,
    job.fence,
    job.leasedBy,
    job.lane,
    job.startBy,
    job.hadWaits ? 1 : 0,
    job.leasedBy === null ? 0 : 1,
  ] as const;

export interface Start {
  readonly event: Event;
  readonly pair: StartPair;
  /** The run's generation where no function key has one. */
  readonly generation: string;
  /** When the event id's window ends, for a decision that has no key. */
  readonly windowEndsAt: number | null;
}

/** Events of one environment, and what they may start. */
export interface Asking {
  readonly env: string;
  readonly events: readonly NewEvent[];
  readonly pairs: readonly NewPair[];
}

export const flowOfRun = (
  { now }: { readonly now: number },
  { ts }: Pick<Event, "ts">,
  flow: StartPair["flow"],
): RunFlow =>
  flow === null
    ? unlimited
    : {
        lane: flow.lane,
        // The first instant at which it has waited too long.
        startBy: flow.startWithinMs === null ? null : Math.max(now, ts) + flow.startWithinMs + 1,
        cancelOn: flow.cancelOn,
        singleton: flow.singleton?.key ?? null,
      };
