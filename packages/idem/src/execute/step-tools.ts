// The `step` of user code. Each tool names an operation and says what it does when it has no outcome yet.
import { type DestinationOf, destinationKey } from "../dedup/destination-key.ts";
import { parseDuration, parseInstant } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { anyEvent } from "../model/expression-equality.ts";
import { canonicalJson, fromJson, toJson, valueAt } from "../model/json.ts";
import { noValue, type Outcome } from "../model/step.ts";
import { inputText } from "../model/step-input.ts";
import { serializeError } from "../model/user-errors.ts";
import type { TransactionClient } from "../store/transactional.ts";
import { askedForSignal, askedToInvoke, askedToSleep, askedToWait } from "./asked-for.ts";
import { durableFetch } from "./durable-fetch.ts";
import { recordedEffect } from "./effect.ts";
import type { AttemptFacts, OpIds, Ran } from "./operation.ts";
import { planCondition, type RunPorts } from "./ports.ts";
import type { RunCall } from "./run-call.ts";
import { isThenable } from "./step-limit.ts";
import { type LimitedId, type LimitedIdInput, limitedId, type StepIdInput } from "./step-name.ts";
import {
  checkInvoke,
  checkSendSignal,
  checkWaitForEvent,
  checkWaitForSignal,
  type InvokeOptions,
  type SendSignalOptions,
  type TimeInput,
  type WaitForEventOptions,
  type WaitForSignalOptions,
} from "./step-options.ts";
import { type UserDatabase, userTransaction } from "./user-transaction.ts";

/** The context of a step's callback. */
export interface StepContext {
  /** The destination key: hand it to the system you write to, as its idempotency key. */
  readonly key: string;
  /** Counted from 1. */
  readonly attempt: number;
  /** Entries into it in a row, this one included: more than one where a process was lost in the middle of it. */
  readonly entered: number;
  /** Aborts when the step's time is over, and when the run is cancelled or this process lost it. */
  readonly signal: AbortSignal;
}

type ContextFacts = Pick<AttemptFacts, "attempt" | "entered" | "signal">;

/**
 * Most callbacks want the key or the signal, or neither: a hash and a controller are made for those that do. Both are the object's own, so that
 * a copy has them; their getters are the same two for all, which costs a tenth of a literal with getters (docs/performance.md#objects).
 */
class LazyContext implements StepContext {
  readonly attempt: number;
  readonly entered: number;
  declare readonly key: string;
  declare readonly signal: AbortSignal;
  readonly #run: DestinationOf;
  readonly #ids: OpIds;
  readonly #facts: ContextFacts;

  constructor(run: DestinationOf, ids: OpIds, facts: ContextFacts) {
    this.attempt = facts.attempt;
    this.entered = facts.entered;
    this.#run = run;
    this.#ids = ids;
    this.#facts = facts;
    Object.defineProperty(this, "key", LazyContext.#key);
    Object.defineProperty(this, "signal", LazyContext.#signal);
  }

  static readonly #key = {
    enumerable: true,
    get(this: LazyContext): string {
      return destinationKey(this.#run, this.#ids.name, this.#ids.repeat);
    },
  };

  static readonly #signal = {
    enumerable: true,
    get(this: LazyContext): AbortSignal {
      return this.#facts.signal();
    },
  };
}

/** `lastsMs` where the author gave a length of time, and no instant. */
interface WaitEnd {
  readonly timeoutAt: number;
  readonly lastsMs?: number;
}

/** `warnOnce` tells a person what is wrong with the function's code, once. */
export function makeStepTools(call: RunCall, warnOnce: (message: string) => void) {
  const { pass, ports, destination: run, runId, event, inputs, limits } = call;
  return {
    /** Runs `body` once it has no outcome yet; its value is kept and given back on every replay. */
    run(id: LimitedIdInput, body: (...args: unknown[]) => unknown, ...args: unknown[]): Promise<unknown> {
      const { step, asked, limitMs } = limitedId(id, warnOnce);
      if (typeof body !== "function") throw errors.STEP_INVALID({ step, why: "step.run needs a function" });
      // Written down before the callback can change them.
      let kept: string | null = null;
      return pass.request("run", asked, (ids) => {
        const attempt = (facts: AttemptFacts): Ran | Promise<Ran> => {
          const context = new LazyContext(run, ids, facts);
          const edited = inputs[ids.stepId];
          // Without a place for arguments the callback would take them for its context, and lose its key.
          if (edited !== undefined && args.length === 0) {
            throw errors.STEP_INVALID({
              step,
              why: "its input was edited, but it takes none: hand step.run what the callback needs, after the callback",
            });
          }
          const given = edited === undefined ? args : (fromJson(edited) as unknown[]);
          if (args.length > 0) kept = inputText(given);
          // With arguments the callback receives those, as in Inngest; the context comes last.
          const got = facts.within(() => (args.length > 0 ? body(...given, context) : body(context)));
          // Many bodies answer at once: nothing is waited for then.
          return isThenable(got) ? Promise.resolve(got).then((value) => ranWith(value, step)) : ranWith(got, step);
        };
        if (args.length === 0) return { kind: "attempt", limitMs, run: attempt };
        return { kind: "attempt", limitMs, input: () => kept, run: attempt };
      });
    },

    /**
     * Runs `body` inside a transaction; what it writes and that the step is done are one commit: exactly once. Of the engine's PostgreSQL,
     * or of the database of the adapter that is given. The body neither commits nor rolls back; it throws, and nothing of it was written.
     */
    transaction(
      id: LimitedIdInput,
      where: UserDatabase<unknown> | ((tx: TransactionClient, context: StepContext) => unknown),
      inUserDatabase?: (tx: unknown, context: StepContext) => unknown,
    ): Promise<unknown> {
      const { step, asked, limitMs } = limitedId(id, warnOnce);
      if (typeof where === "object") {
        const attempt = userTransaction({ step, database: where, body: inUserDatabase, bytesMax: limits.stepBytesMax });
        return pass.request("transaction", asked, (ids) => ({
          kind: "attempt",
          limitMs,
          run: (facts) => attempt(keyOf(run, ids), runId, facts, new LazyContext(run, ids, facts)),
        }));
      }
      const body = where;
      if (typeof body !== "function") throw errors.STEP_INVALID({ step, why: "step.transaction needs a function" });
      if (ports.transact === undefined) throw errors.TRANSACTION_UNSUPPORTED({ call: `step.transaction("${step}")` });
      return pass.request("transaction", asked, (ids) => ({
        kind: "transaction",
        limitMs,
        run: async (facts, tx) => {
          const value = await facts.within(() => body(tx, new LazyContext(run, ids, facts)));
          return { json: toJson(value, `Step "${step}"`) };
        },
      }));
    },

    /** A call to a system outside, recorded with its receipt; never sent again once its destination may have forgotten the key. */
    effect: ((...given) => recordedEffect({ pass, ports, run, runId, warnOnce })(...given)) as RecordedEffect,

    /** Waits `"2s"`, `"30d"` or milliseconds. Nothing of the run is in memory meanwhile, and a process that is restarted changes nothing of when it ends. */
    sleep: (id: StepIdInput, duration: string | number): Promise<void> =>
      sleepFor({ pass, warnOnce }, id, (step) => lasting(duration, step, ports)),

    /** Waits until an instant: a Date, ISO 8601, or milliseconds since 1970. */
    sleepUntil: (id: StepIdInput, time: TimeInput): Promise<void> =>
      sleepFor({ pass, warnOnce }, id, (step) => ({ timeoutAt: parseInstant(time, `step "${step}"`) })),

    /** The event, or null once the timeout is over. Starts listening when the call is reached: earlier events do not count. */
    waitForEvent(id: StepIdInput, options: WaitForEventOptions): Promise<unknown> {
      const { step, asked } = idOf(id, warnOnce);
      return pass.request("wait-for-event", asked, (ids) => ({
        kind: "wait",
        plan: () => {
          checkWaitForEvent(step, options, warnOnce);
          if (typeof options?.event !== "string" || options.event === "") {
            throw errors.STEP_INVALID({ step, why: "waitForEvent needs the name of an event" });
          }
          const { match } = options;
          if (match !== undefined && (typeof match !== "string" || match === "")) {
            throw errors.STEP_INVALID({ step, why: 'match must be a path such as "data.orderId"' });
          }
          const condition = options.if === undefined ? anyEvent : planCondition(options.if, ports);
          const { timeoutAt, ...length } = endOf(options.timeout, step, ports);
          return {
            kind: "ready",
            ...length,
            wait: {
              ...waitBase(ids),
              kind: "event",
              stepKind: "wait-for-event",
              timeoutAt,
              onTimeout: noValue,
              input: askedToWait(options, timeoutAt),
              eventName: options.event,
              ...(match === undefined
                ? condition
                : { path: match, value: canonicalJson(valueAt(event, match)), rest: options.if ?? null }),
            },
          };
        },
      }));
    },

    /** `{ signal, data }`, or null once the timeout is over. One run waits for a signal at a time. */
    waitForSignal(id: StepIdInput, options: WaitForSignalOptions): Promise<unknown> {
      const { step, asked } = idOf(id, warnOnce);
      return pass.request("wait-for-signal", asked, (ids) => ({
        kind: "wait",
        plan: () => {
          checkWaitForSignal(step, options);
          const signal = signalOf(options, step, "waitForSignal");
          const { timeoutAt, ...length } = endOf(options.timeout, step, ports);
          return {
            kind: "ready",
            ...length,
            wait: {
              ...waitBase(ids),
              kind: "signal",
              stepKind: "wait-for-signal",
              timeoutAt,
              onTimeout: noValue,
              input: askedForSignal(signal, timeoutAt),
              signal,
              onTaken: options.onConflict === "replace" ? "replace" : failure(errors.SIGNAL_TAKEN({ signal })),
            },
          };
        },
      }));
    },

    /** Runs another function and waits for what it returns; its failure is thrown here. */
    invoke(id: StepIdInput, options: InvokeOptions): Promise<unknown> {
      const { step, asked } = idOf(id, warnOnce);
      return pass.request("invoke", asked, (ids) => ({
        kind: "wait",
        plan: () => {
          checkInvoke(step, options, warnOnce);
          const target = typeof options?.function === "string" ? options.function : options?.function?.id;
          if (typeof target !== "string" || target === "") {
            throw errors.STEP_INVALID({ step, why: "invoke needs a function, or its id" });
          }
          const { timeoutAt, ...length } = endOf(options.timeout ?? limits.invokeTimeoutMs, step, ports);
          const event = ports.acceptInvoked({
            function: target,
            data: options.data,
            v: options.v,
            step: ids,
            timeoutAt,
          });
          return {
            kind: "invoke",
            ...length,
            wait: {
              ...waitBase(ids),
              kind: "run",
              stepKind: "invoke",
              timeoutAt,
              onTimeout: failure(errors.INVOKE_TIMED_OUT({ step, function: target })),
              input: askedToInvoke(target, event),
            },
            invoke: {
              function: target,
              event,
              stepKey: keyOf(run, ids),
              runId: ports.newId(),
            },
          };
        },
      }));
    },

    /** Sends events in the same commit that records the step. Without an id of their own they get one from the step. */
    sendEvent(id: LimitedIdInput, payload: unknown): Promise<{ ids: string[] }> {
      const { step, asked, limitMs } = limitedId(id, warnOnce);
      return pass.request("send-event", asked, (ids) => {
        const key = keyOf(run, ids);
        const events = Array.isArray(payload) ? payload : [payload];
        const eventIds = events.map(() => ports.newId());
        return {
          kind: "attempt",
          limitMs,
          input: () => inputText({ events }),
          run: async ({ within, trace }) => {
            const sends = await within(() =>
              ports.acceptSends({
                step,
                events,
                traceparent: trace?.traceparent ?? null,
                eventId: (i) => (eventIds[i] ??= ports.newId()),
                fallbackId: (i) => `${key}:${i}`,
              }),
            );
            return { json: toJson({ ids: sends.map((sent) => sent.id) }, `Step "${step}"`), sends };
          },
        };
      }) as Promise<{ ids: string[] }>;
    },

    /** Wakes the run that waits for this signal; `runId` is null when no run does. */
    sendSignal(id: LimitedIdInput, options: SendSignalOptions): Promise<{ runId: string | null }> {
      const { step, asked, limitMs } = limitedId(id, warnOnce);
      return pass.request("send-signal", asked, () => ({
        kind: "attempt",
        limitMs,
        input: () => inputText({ signal: options?.signal, data: options?.data }),
        run: async ({ within }) => {
          checkSendSignal(step, options);
          const signal = signalOf(options, step, "sendSignal");
          const json = toJson({ signal, data: options.data ?? null }, `Step "${step}"`);
          const runId = await within(() => ports.signal(signal, json));
          return { json: toJson({ runId }, `Step "${step}"`) };
        },
      })) as Promise<{ runId: string | null }>;
    },

    /** A durable HTTP request: any answer is kept, a failure to reach the server is retried. */
    fetch: ((...given: Parameters<DurableFetch>) =>
      durableFetch({ pass, ports, run, bytesMax: limits.fetchBytesMax, warnOnce })(...given)) as DurableFetch,
  };
}

export type StepTools = ReturnType<typeof makeStepTools>;

type RecordedEffect = ReturnType<typeof recordedEffect>;
type DurableFetch = ReturnType<typeof durableFetch>;

function idOf(input: StepIdInput, warnOnce: (message: string) => void): LimitedId {
  const named = limitedId(input, warnOnce);
  const { step, limitMs } = named;
  if (limitMs === null) return named;
  throw errors.STEP_INVALID({
    step,
    why: "it runs no code that a time limit could stop; its options say how long it waits",
  });
}

function lasting(duration: string | number, step: string, ports: RunPorts): WaitEnd {
  const lastsMs = parseDuration(duration, `step "${step}"`);
  return { timeoutAt: ports.now() + lastsMs, lastsMs };
}

function endOf(timeout: TimeInput, step: string, ports: RunPorts): WaitEnd {
  if (timeout === undefined) throw errors.STEP_INVALID({ step, why: "it needs a timeout" });
  return isDuration(timeout) ? lasting(timeout, step, ports) : { timeoutAt: parseInstant(timeout, `step "${step}"`) };
}

function signalOf(options: { readonly signal: string }, step: string, tool: string): string {
  if (typeof options?.signal === "string" && options.signal !== "") return options.signal;
  throw errors.STEP_INVALID({ step, why: `${tool} needs the name of a signal` });
}

const keyOf = (run: DestinationOf, { name, repeat }: OpIds): string => destinationKey(run, name, repeat);

const waitBase = ({ stepId, name, repeat }: OpIds) => ({ stepId, name, repeat });

function sleepFor(
  { pass, warnOnce }: Pick<RunCall, "pass"> & { readonly warnOnce: (message: string) => void },
  id: StepIdInput,
  until: (step: string) => WaitEnd,
): Promise<void> {
  const { step, asked } = idOf(id, warnOnce);
  return pass.request("sleep", asked, (ids) => ({
    kind: "wait",
    plan: () => {
      const { timeoutAt, ...length } = until(step);
      return {
        kind: "ready",
        ...length,
        wait: {
          ...waitBase(ids),
          kind: "time",
          stepKind: "sleep",
          timeoutAt,
          onTimeout: noValue,
          input: askedToSleep(timeoutAt),
        },
      };
    },
  })) as Promise<void>;
}

const ranWith = (value: unknown, step: string): Ran => ({ json: toJson(value, `Step "${step}"`) });

const failure = (error: Error): Outcome => ({ kind: "error", json: serializeError(error) });

const isDuration = (timeout: TimeInput): timeout is string | number =>
  typeof timeout === "number" || (typeof timeout === "string" && !/^\d{4}-\d\d/.test(timeout));
