// A store that tells what was committed through it: for metrics and for the line a person reads when a run fails. It looks
// at answers, never at what was only tried, and changes nothing: without it every run still ends the same.
import type { DecisionKind } from "../model/decision.ts";
import type { EndState } from "../model/run.ts";
import type { Advanced, AdvanceInput, EndRun, Ingested, NewStep, Store } from "../store/store.ts";

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
  decided(env: string, kind: DecisionKind): void;
  suppressed(env: string, layer: DuplicateLayer): void;
  stepEnded(env: string, step: Pick<NewStep, "kind" | "startedAt" | "endedAt">, isError: boolean): void;
  attemptFailed(env: string): void;
  runEnded(env: string, runId: string, state: EndState, result: string): void;
}

export function observedStore(store: Store, observer: StoreObserver): Store {
  const ingested = (env: string, answer: Ingested | null) => {
    if (answer === null) return;
    if (answer.events.length > 0) observer.accepted(env, answer.events.length);
    for (const { firstEventId } of answer.events) if (firstEventId !== null) observer.suppressed(env, "event-id");
    for (const { kind } of answer.decisions) {
      observer.decided(env, kind);
      if (kind === "duplicate-key") observer.suppressed(env, "function-key");
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
    if (next.kind === "end") ended(env, input.runId, next);
  };
  const ended = (env: string, runId: string, { state, result }: EndRun) => observer.runEnded(env, runId, state, result);

  const watched: Pick<Store, "ingest" | "advance" | "cancel"> = {
    ingest: async (input) => {
      const answer = await store.ingest(input);
      if (answer.kind === "ingested") ingested(input.env, answer);
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
  // Whatever else a store can do, it does itself. Each operation is bound once: they are called thousands of times a second.
  const operations: Record<PropertyKey, unknown> = { ...watched };
  return new Proxy(store, {
    get: (target, name) => {
      const known = operations[name];
      if (known !== undefined) return known;
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      operations[name] = value.bind(target);
      return operations[name];
    },
  });
}
