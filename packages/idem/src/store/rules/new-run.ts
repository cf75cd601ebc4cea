// What begins: a run, its job, and what asks for it.

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
export const keptInputs = ({ rerunFrom, inputs }: Pick<NewRun, "rerunFrom" | "inputs">): string | null =>
  rerunFrom === null && Object.keys(inputs).length === 0 ? null : JSON.stringify(inputs);

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
