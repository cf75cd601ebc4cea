// A store that reports what was committed through it: for metrics and for the line a person reads when a run fails. It looks
// at answers, never at what was only tried, and changes nothing: without it every run still ends the same.
import type { DecisionKind } from "../model/decision.ts";
import type { EndState } from "../model/run.ts";
import type { Advanced, AdvanceInput, EndRun, NewStep } from "../store/advance.ts";
import type { CancelledRun, DecidedCounts, Ticked, TickInput } from "../store/flow.ts";
import type { Ingested } from "../store/ingest.ts";
import type { Store } from "../store/store.ts";

/** At which layer something that came again was recognised. */
export type DuplicateLayer =
  /** The sender's id, or the seed of a request that was sent again. */
  | "event-id"
  /** The function's idempotency key. */
  | "function-key"
  /** A step that already had an outcome. */
  | "step"
  /** A worker that no longer holds the run, or came after its end. */
  | "fence";

export interface StoreObserver {
  accepted(env: string, count: number): void;
  /** Again for an event that waited, once it is decided. */
  decided(env: string, kind: DecisionKind, count: number): void;
  suppressed(env: string, layer: DuplicateLayer): void;
  stepEnded(env: string, step: Pick<NewStep, "kind" | "startedAt" | "endedAt">, isError: boolean): void;
  attemptFailed(env: string): void;
  runEnded(env: string, runId: string, state: EndState, result: string): void;
  /** A tick of a schedule, once however many processes asked for it, and how long after its instant. */
  ticked(env: string, kind: DecisionKind, lateMs: number): void;
  /** A run began, was taken up, moved on, or answered for a duplicate. */
  touched?(env: string, runId: string): void;
}

type Told = Omit<Ingested, "kind">;

/** `isHeard`: whether anybody listens now; where nobody does, an operation is the store's own. */
export function observedStore(store: Store, observer: StoreObserver, isHeard: () => boolean = () => true): Store {
  const decided = (env: string, kind: DecisionKind, count: number) => {
    observer.decided(env, kind, count);
    if (kind === "duplicate-key") for (let i = 0; i < count; i++) observer.suppressed(env, "function-key");
  };
  const counted = (env: string, counts: DecidedCounts | undefined) => {
    for (const [kind, count] of Object.entries(counts ?? {})) decided(env, kind as DecisionKind, count);
  };
  const cancelled = (env: string, runs: readonly CancelledRun[]) => {
    for (const { runId, result } of runs) observer.runEnded(env, runId, "cancelled", result);
  };
  const decisions = (env: string, answer: Told) => {
    for (const { kind, runId } of answer.decisions) {
      decided(env, kind, 1);
      if (runId !== null) observer.touched?.(env, runId);
    }
    counted(env, answer.redecided);
    cancelled(env, answer.cancelled);
  };
  const ingested = (env: string, answer: Told | null) => {
    if (answer === null) return;
    if (answer.events.length > 0) observer.accepted(env, answer.events.length);
    for (const { firstEventId } of answer.events) if (firstEventId !== null) observer.suppressed(env, "event-id");
    decisions(env, answer);
  };
  const ticked = ({ env, ticks }: TickInput, answer: Ticked) => {
    ingested(env, answer);
    const kinds = new Map(answer.decisions.map(({ eventId, kind }) => [eventId, kind]));
    for (const position of answer.fired) {
      const { event, tickAt } = ticks[position]!;
      const kind = kinds.get(event.id);
      if (kind !== undefined) observer.ticked(env, kind, Math.max(0, answer.now - tickAt));
    }
  };
  const advanced = (input: AdvanceInput, answer: Advanced) => {
    const { env, steps, attempts, next } = input;
    for (const [i, step] of steps.entries()) {
      const counted = answer.outcomes[i] ?? step.outcome;
      if (counted.json !== step.outcome.json) observer.suppressed(env, "step");
      else observer.stepEnded(env, step, step.outcome.kind === "error");
    }
    for (const _ of attempts) observer.attemptFailed(env);
    ingested(env, answer.ingested);
    observer.touched?.(env, input.runId);
    if (next.kind === "end") ended(env, input.runId, next);
  };
  const ended = (env: string, runId: string, { state, result }: EndRun) => observer.runEnded(env, runId, state, result);

  const watched: Pick<Store, "ingest" | "redecide" | "tick" | "lease" | "advance" | "cancel"> = {
    ingest: async (input) => {
      const answer = await store.ingest(input);
      if (answer.kind === "ingested") ingested(input.env, answer);
      return answer;
    },
    redecide: async (input) => {
      const answer = await store.redecide(input);
      // The event itself was accepted when it came.
      if (answer.kind === "ingested") decisions(input.env, answer);
      return answer;
    },
    tick: async (input) => {
      const answer = await store.tick(input);
      if (answer.kind === "ticked") ticked(input, answer);
      return answer;
    },
    lease: async (input) => {
      const answer = await store.lease(input);
      for (const job of answer.jobs) if (job.kind === "run") observer.touched?.(input.env, job.jobId);
      counted(input.env, answer.flushed?.decided);
      cancelled(input.env, answer.flushed?.cancelled ?? []);
      return answer;
    },
    advance: async (input) => {
      const answer = await store.advance(input);
      if (answer.kind === "advanced") advanced(input, answer);
      else if (answer.kind === "fenced" || answer.kind === "ended") observer.suppressed(input.env, "fence");
      return answer;
    },
    cancel: async (input) => {
      const answer = await store.cancel(input);
      if (answer.kind === "cancelled") {
        ingested(input.env, answer.ingested);
        observer.runEnded(input.env, input.runId, "cancelled", input.result);
      }
      return answer;
    },
  };
  const heard: typeof watched = {
    ingest: (input) => (isHeard() ? watched.ingest(input) : store.ingest(input)),
    redecide: (input) => (isHeard() ? watched.redecide(input) : store.redecide(input)),
    tick: (input) => (isHeard() ? watched.tick(input) : store.tick(input)),
    lease: (input) => (isHeard() ? watched.lease(input) : store.lease(input)),
    advance: (input) => (isHeard() ? watched.advance(input) : store.advance(input)),
    cancel: (input) => (isHeard() ? watched.cancel(input) : store.cancel(input)),
  };
  // Whatever else a store can do, it does itself. Each operation is bound once: they are called thousands of times a second.
  const operations: Record<PropertyKey, unknown> = { ...heard };
  // Around nothing: of a store whose operations cannot be changed, a proxy around it would have to give back the very same.
  return new Proxy({} as Store, {
    get: (_, name) => {
      const known = operations[name];
      if (known !== undefined) return known;
      const value = Reflect.get(store, name, store);
      if (typeof value !== "function") return value;
      operations[name] = value.bind(store);
      return operations[name];
    },
    has: (_, name) => Reflect.has(store, name),
    set: (_, name, value) => Reflect.set(store, name, value),
  });
}
