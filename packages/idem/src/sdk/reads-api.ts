// idem.runs and idem.events.
import type { Engine } from "../engine/engine.ts";
import { outlookOf } from "../engine/outlook.ts";
import type { Verdict } from "../engine/redecide-events.ts";
import type { RunEnd as StoredEnd } from "../engine/run-ends.ts";
import type { EventIdScope } from "../model/claim.ts";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { fromJson } from "../model/json.ts";
import type { EndState, RunState } from "../model/run.ts";
import { readError, type SerializedError } from "../model/user-errors.ts";
import { explainEvent } from "../observe/explain.ts";
import { findEvent } from "../observe/find-event.ts";
import type { CancelOutlook, LimitInLine } from "../observe/outlook.ts";
import { type Timeline, timelineOf } from "../observe/timeline.ts";
import { decideEvent } from "./decide-event.ts";
import { nameIn } from "./find-subject.ts";
import {
  type PublicDecision,
  type PublicEvent,
  type PublicRun,
  publicDecision,
  publicEvent,
  publicRun,
} from "./public-types.ts";

// One page for a person; programs go on with `before`.
const limitDefault = 50;
const limitMax = 1_000;

export interface RunsApi {
  /** Null when there is no such run. */
  get(id: string): Promise<RunDetail | null>;
  /** Newest first; continue with the last id as `before`. */
  list(filter?: RunsFilter): Promise<readonly PublicRun[]>;
  /**
   * Resolves once the run has ended, also when it failed. Throws RUN_WAIT_TIMED_OUT after `timeout` ("30s", or milliseconds; the run goes
   * on), and RUN_UNATTENDED where the client was not started and nobody else executes the run.
   */
  wait(id: string, options?: WaitForRun): Promise<RunEnd>;
  /** After this resolves no new attempt of the run starts. False when it had already ended. */
  cancel(
    id: string,
    options?: { readonly reason?: string; readonly actor?: string },
  ): Promise<{ readonly cancelled: boolean }>;
  /**
   * Lets a parked run go on, where it was, with its entries counted from the start; audited. False when it is not parked.
   */
  release(
    id: string,
    options?: { readonly reason?: string; readonly actor?: string },
  ): Promise<{ readonly released: boolean }>;
  /**
   * A new run for the same event, past its id and key, with the same destination keys. With `fromStep`, what was recorded
   * before that step is kept; `input` replaces the arguments `step.run` hands to its callback. `data` takes the place of the event's
   * data, from the start, where it gives the same key. Both this and `cancel` are in the audit, in the same commit, where `actor` says
   * who asked.
   */
  rerun(
    id: string,
    options?: {
      readonly fromStep?: string;
      readonly input?: readonly unknown[];
      readonly data?: Readonly<Record<string, unknown>>;
      readonly actor?: string;
    },
  ): Promise<{ readonly runId: string }>;
}

export interface WaitForRun {
  readonly signal?: AbortSignal;
  readonly timeout?: string | number;
}

export interface RunDetail extends PublicRun {
  readonly timeline: Timeline;
  /** Its events: more than one only in a batch. */
  readonly events: readonly PublicEvent[];
  /** The limits it has to pass before it goes on; empty for a run that does not stand in line. */
  readonly line: readonly LimitInLine[];
  /** The events that would cancel it; empty once it has ended. */
  readonly cancelOn: readonly CancelOutlook[];
}

export interface RunsFilter {
  readonly function?: string;
  readonly state?: RunState;
  /** The stored event's id. */
  readonly eventId?: string;
  readonly before?: string;
  readonly limit?: number;
}

export interface RunEnd {
  readonly state: EndState;
  readonly output: unknown;
  readonly error: SerializedError | null;
}

export interface EventsApi {
  /**
   * By the stored id, or by the sender's own; null when there is no such event. A delivery of a webhook and an event that somebody sent
   * under the same id are two: the delivery is meant, unless `scope` says "event".
   */
  get(
    id: string,
    options?: { readonly scope?: EventIdScope },
  ): Promise<(PublicEvent & { readonly decisions: readonly PublicDecision[] }) | null>;
  list(filter?: {
    readonly name?: string;
    readonly before?: string;
    readonly limit?: number;
  }): Promise<readonly PublicEvent[]>;
  /** A paused or held event starts what it would have started, also while its function is still paused. Gives the new decision. */
  release(id: string, options?: VerdictOptions): Promise<PublicDecision>;
  /** A paused or held event is let go of for good. */
  drop(id: string, options?: VerdictOptions): Promise<PublicDecision>;
}

export interface VerdictOptions {
  /** Which function's; needed when the event waits for several. */
  readonly function?: string;
  /** Kept in the audit. */
  readonly reason?: string;
  /** The asker's name in the audit; a server fills it in itself. */
  readonly actor?: string;
}

export function runsApi(engineOf: () => Engine | Promise<Engine>): RunsApi {
  return {
    async get(id) {
      const engine = await engineOf();
      const memo = await engine.store.reads.runMemo(engine.env, id);
      if (memo === null) return null;
      const outlook = outlookOf(engine);
      return {
        ...publicRun(memo.run, nameIn(engine)),
        timeline: timelineOf(memo, engine.env),
        events: memo.events.map(publicEvent),
        line: await outlook.line(memo.run, memo.event),
        cancelOn: await outlook.cancels(memo.run),
      };
    },
    async list(filter = {}) {
      const engine = await engineOf();
      const { function: name, limit, ...rest } = filter;
      const fn = name === undefined ? {} : { fn: engine.registry.slugOf(name) };
      const runs = await engine.store.reads.runs(engine.env, { ...rest, ...fn, limit: readLimit(limit) });
      return runs.map((run) => publicRun(run, nameIn(engine)));
    },
    wait(id, options) {
      const opened = engineOf();
      // As most do who wait for what they just sent.
      if (options === undefined && !("then" in opened)) return opened.ends.wait(id).then(endOf);
      return waitWith(opened, id, options);
    },
    async cancel(id, options) {
      const engine = await engineOf();
      const { actor, reason } = options ?? {};
      const byHand = actor === undefined ? undefined : { actor, reason: reason ?? "" };
      const answer = await engine.cancel(id, reason ?? "the run was cancelled", byHand);
      if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId: id });
      return { cancelled: answer.kind === "cancelled" };
    },
    async release(id, { reason = "", actor = "" } = {}) {
      const answer = await (await engineOf()).release(id, { reason, actor });
      if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId: id });
      return { released: answer.kind === "released" };
    },
    async rerun(id, { fromStep, input, data, actor } = {}) {
      const options = {
        ...(fromStep === undefined ? {} : { fromStep }),
        ...(input === undefined ? {} : { input }),
        ...(data === undefined ? {} : { data }),
        ...(actor === undefined ? {} : { byHand: { actor } }),
      };
      return { runId: await (await engineOf()).rerun(id, options) };
    },
  };
}

async function waitWith(
  opened: Engine | Promise<Engine>,
  id: string,
  options: WaitForRun | undefined,
): Promise<RunEnd> {
  const timeoutMs = waitTimeout(options);
  const engine = await opened;
  return endOf(await engine.ends.wait(id, { signal: options?.signal, timeoutMs }));
}

const endOf = ({ state, result }: StoredEnd): RunEnd => ({
  state,
  output: state === "completed" && result !== null ? fromJson(result) : null,
  error: state !== "completed" && result !== null ? readError(result) : null,
});

export function eventsApi(engineOf: () => Promise<Engine>): EventsApi {
  return {
    async get(id, options) {
      const engine = await engineOf();
      const event = await findEvent(engine, id, options?.scope);
      if (event === null) return null;
      const { decisions } = await explainEvent(engine.store.reads, engine.env, event);
      return {
        ...publicEvent(event),
        decisions: decisions.map((decision) => publicDecision(decision, decision.differs, nameIn(engine))),
      };
    },
    async list(filter = {}) {
      const engine = await engineOf();
      const events = await engine.store.reads.events(engine.env, { ...filter, limit: readLimit(filter.limit) });
      return events.map(publicEvent);
    },
    release: (id, options) => decide("release", id, options),
    drop: (id, options) => decide("drop", id, options),
  };

  async function decide(verdict: Verdict, id: string, options: VerdictOptions = {}): Promise<PublicDecision> {
    const engine = await engineOf();
    const nameOf = nameIn(engine);
    const decision = await decideEvent(engine, id, verdict, { ...options, nameOf });
    return publicDecision(decision, decision.differs, nameOf);
  }
}

/** Milliseconds; null for as long as it takes. */
export const waitTimeout = (options: WaitForRun | undefined): number | null =>
  options?.timeout === undefined ? null : parseDuration(options.timeout, "timeout");

export function readLimit(limit: number | undefined): number {
  if (limit === undefined) return limitDefault;
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax) {
    throw errors.OPTION_INVALID({ option: "limit", why: `it must be between 1 and ${limitMax}` });
  }
  return limit;
}
