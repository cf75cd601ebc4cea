// Both ways to write a function: createFunction(options, trigger, handler) as in the seeds, and
// createFunction({ ...options, triggers }, handler) as in SDK v4. What is wrong is said here, at definition.

import type { EffectContext, EffectOptions } from "../execute/effect.ts";
import type { FunctionCode, Logger, Middleware } from "../execute/function-code.ts";
import type { Backoff } from "../execute/retry.ts";
import type { LimitedIdInput } from "../execute/step-name.ts";
import type { StepContext, StepTools } from "../execute/step-tools.ts";
import type { UserDatabase } from "../execute/user-transaction.ts";
import { type FlowWritten, readFlow } from "../flow/options.ts";
import { keepDataSchemas } from "../model/data-schemas.ts";
import type { OnDiverged } from "../model/divergence.ts";
import { errors, IdemError } from "../model/errors.ts";
import { type EventTrigger, type FunctionConfig, functionSlug } from "../model/function-config.ts";
import {
  readEntries,
  readIdempotency,
  readName,
  readOnDiverged,
  readRetries,
  readTimeouts,
  readTriggers,
} from "../model/function-options.ts";
import type { TransactionClient } from "../store/transactional.ts";
import { dataSchemaOf } from "./data-schema.ts";
import type { DataOf, EventSchemas, ReceivedEvent } from "./event-types.ts";
import { refuseUnknownFunctionOptions } from "./known-function-options.ts";

export interface IdempotencyOptions {
  /** CEL over `event`: what makes two events the same to this function. */
  readonly key: string;
  /** How long the key stays taken, "24h" by default; "until-finished" keeps it past that while the run is open. */
  readonly window?: string | number;
  /** Whether a failed or cancelled run gives the key back. */
  readonly onFailure?: "keep" | "release";
  /** What to do when the key is missing, null or fails. */
  readonly onMissing?: "run" | "reject";
}

/** The function has no key, and this is why: "each tick is new work". */
export interface UnkeyedOptions {
  readonly none: string;
}

export interface FunctionOptions extends FlowWritten {
  readonly id: string;
  readonly name?: string;
  /** How often a step, or the code between steps, is tried again: 4 by default, 0 to 20. */
  readonly retries?: number;
  /** What makes two events the same to it; or `{ none: "why" }`, where events with other ids are other work. */
  readonly idempotency?: string | IdempotencyOptions | UnkeyedOptions;
  readonly timeouts?: {
    readonly start?: string | number;
    readonly finish?: string | number;
    /** How long one attempt of a step may take, unless the step has a `timeout` of its own. */
    readonly step?: string | number;
  };
  /**
   * How often the code is entered in a row while its process is lost each time before anything came of it: 5 by default, 1 to 1,000. Then
   * the run is parked for a person, or fails. Every outcome begins the count anew. `delay` is what the third entry is put off by, "5s" unless
   * told, at most "1h"; the next ones by up to nine times as much, each spread by chance over three times its length.
   */
  readonly entries?: {
    readonly max?: number;
    readonly onMax?: "park" | "fail";
    readonly delay?: string | number;
  };
  /** Milliseconds to wait after the given attempt failed, instead of the table of docs/functions.md#when-something-fails. */
  readonly backoff?: Backoff;
  /** Called once the run has failed for good, or was ended by `timeouts.finish`; a run of its own, with `error` and the run's event. */
  readonly onFailure?: (input: any) => unknown;
  /**
   * Called once the run was cancelled: by a person, by an event of `cancelOn`, by a newer run that takes its place, by `timeouts.start`; and by
   * `timeouts.finish` where there is no `onFailure`. As `onFailure`, a run of its own; `error` says why.
   */
  readonly onCancel?: (input: any) => unknown;
  readonly middleware?: readonly Middleware[];
  /**
   * What becomes of a run whose code no longer asks for a step it had begun, after a change of the code say: "warn" by default. "park" and "fail"
   * stop it before anything is done in that step's place.
   */
  readonly onDiverged?: OnDiverged;
}

export type TriggerInput = EventInput | CronInput;

export interface EventInput {
  readonly event: string;
  /** CEL over `event`: the function starts only where it is true. */
  readonly if?: string;
}

export interface CronInput {
  /** Five fields, optionally after a zone: "TZ=Europe/Paris 0 9 * * 1". UTC by default. */
  readonly cron: string;
  /** Puts each start off by up to this much: "1s" to "5m". */
  readonly jitter?: string | number;
  /** Which ticks that nobody was there for are started: "last" by default; "all" means the newest 100. */
  readonly missed?: "skip" | "last" | "all" | { readonly all: number };
}

export interface HandlerContext<Event> {
  readonly event: Event;
  readonly events: readonly Event[];
  readonly step: TypedStepTools;
  readonly runId: string;
  /** Of the code between steps, counted from 1. */
  readonly attempt: number;
  /** How often in a row the code was entered, this time included: more than once where a process was lost in the middle of it. */
  readonly entered: number;
  readonly maxAttempts: number;
  readonly logger: Logger;
}

/** `step` with the types of what its callbacks return. */
export interface TypedStepTools extends Omit<StepTools, "run" | "transaction" | "effect"> {
  run<Args extends unknown[], Value>(
    id: LimitedIdInput,
    body: (...args: [...Args, StepContext]) => Value,
    ...args: Args
  ): Promise<Jsonify<Awaited<Value>>>;
  /** The same for a callback that names its arguments and leaves out the context, which would be taken for the last of them. */
  run<Args extends unknown[], Value>(
    id: LimitedIdInput,
    body: (...args: Args) => Value,
    ...args: Args
  ): Promise<Jsonify<Awaited<Value>>>;
  /** What `body` writes with `tx`, a client of `pg`, and that the step is done are one commit of the engine's PostgreSQL. */
  transaction<Value>(
    id: LimitedIdInput,
    body: (tx: TransactionClient, context: StepContext) => Value,
  ): Promise<Jsonify<Awaited<Value>>>;
  /** The same on a database of your own: `adapter` is one of idem/sql, and the table `idem_steps` is in it. */
  transaction<Tx, Value>(
    id: LimitedIdInput,
    adapter: UserDatabase<Tx>,
    body: (tx: Tx, context: StepContext) => Value,
  ): Promise<Jsonify<Awaited<Value>>>;
  /**
   * A call to a system outside, recorded with its receipt: a repeat gets the recorded value, and once the destination may have forgotten the
   * key it is looked up or parked instead of sent again.
   */
  effect<Value>(
    id: LimitedIdInput,
    options: EffectOptions<Value>,
    call: (context: EffectContext) => Value | Promise<Value>,
  ): Promise<Jsonify<Value>>;
}

/** What a value is after it went through JSON, as every step's value does. */
export type Jsonify<Value> = Value extends { toJSON(): infer Json }
  ? Json
  : Value extends string | number | boolean | null
    ? Value
    : Value extends void
      ? null
      : Value extends (...args: any[]) => unknown
        ? never
        : Value extends readonly unknown[]
          ? { [K in keyof Value]: Jsonify<Value[K]> }
          : Value extends object
            ? { [K in keyof Value]: JsonifyField<Value[K]> }
            : any;

// A field that may be undefined may be absent afterwards; an element or a whole value becomes null.
type JsonifyField<Value> = undefined extends Value ? Jsonify<Exclude<Value, undefined>> | undefined : Jsonify<Value>;

export type EventNameOf<Input> = Input extends { event: infer Name extends string } ? Name : string;

export type EventOf<Schemas extends EventSchemas, Input> = Input extends readonly (infer Each)[]
  ? ReceivedEvent<EventNameOf<Each>, DataOf<Schemas, EventNameOf<Each>>>
  : ReceivedEvent<EventNameOf<Input>, DataOf<Schemas, EventNameOf<Input>>>;

/** A function as its author holds it: pass it to `step.invoke`, or ignore it. */
export interface IdemFunction {
  readonly id: string;
  /** Its name in the environment. */
  readonly slug: string;
  /** What the engine executes; for tools such as idem/testing. */
  readonly code: FunctionCode;
}

/** What every function of a client has. */
interface OfClient {
  readonly middleware?: readonly Middleware[];
  readonly schemas?: EventSchemas;
  readonly warn?: (message: string) => void;
}

/** The code for the function and, where it has `onFailure` or `onCancel`, for the companions that run when it ended so. */
export function defineFunction(
  app: string,
  options: FunctionOptions,
  triggers: readonly TriggerInput[],
  handler: unknown,
  { middleware = [], schemas = {}, warn = () => {} }: OfClient = {},
): FunctionCode[] {
  const id = options?.id;
  const wrong = (why: string, cause?: unknown) =>
    errors.FUNCTION_INVALID(
      { function: typeof id === "string" ? id.slice(0, 128) : typeof id, why },
      cause === undefined ? undefined : { cause },
    );
  if (typeof id !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) {
    throw wrong("its id must be 1 to 128 letters, digits, dots, dashes or underscores");
  }
  if (typeof handler !== "function") throw wrong("it has no handler");
  try {
    refuseUnknownFunctionOptions(options, triggers, warn);
    const starts = readTriggers(triggers);
    const config: FunctionConfig = {
      id,
      name: readName(options.name) ?? id,
      triggers: starts,
      retries: readRetries(options.retries),
      ...readIdempotency(options.idempotency),
      ...readTimeouts(options.timeouts),
      ...readEntries(options.entries),
      ...readOnDiverged(options.onDiverged),
      ...readFlow(options, { triggers: starts }),
      ...keepDataSchemas(starts, Object.keys(schemas), (name) => dataSchemaOf(schemas[name])),
    };
    const code = {
      fn: functionSlug(app, id),
      config,
      handler: handler as FunctionCode["handler"],
      backoff: readFunction<Backoff>(options.backoff, "backoff"),
      middleware: [...middleware, ...readMiddleware(options.middleware)],
      handlesEnd: false,
    };
    const onFailure = readFunction<(input: any) => unknown>(options.onFailure, "onFailure");
    const onCancel = readFunction<(input: any) => unknown>(options.onCancel, "onCancel");
    return [
      code,
      ...(onFailure === null ? [] : [endHandler(app, code, "failure", onFailure, failureTriggers(code))]),
      ...(onCancel === null
        ? []
        : [endHandler(app, code, "cancel", onCancel, cancelTriggers(code, onFailure !== null))]),
    ];
  } catch (error) {
    if (error instanceof IdemError && !["FUNCTION_INVALID", "OPTION_UNKNOWN"].includes(error.code))
      throw wrong(error.message, error);
    throw error;
  }
}

// Which end is told to which handler: the table is in docs/states.md.
const isOf = ({ fn }: FunctionCode): string => `event.data.function_id == '${fn}'`;
const isFinishTimeout = `has(event.data.error.code) && event.data.error.code == 'RUN_TIMED_OUT'`;

function failureTriggers(of: FunctionCode): EventTrigger[] {
  const failed = { event: "inngest/function.failed", if: isOf(of) };
  if (of.config.finishTimeoutMs === null) return [failed];
  return [failed, { event: "inngest/function.cancelled", if: `${isOf(of)} && ${isFinishTimeout}` }];
}

function cancelTriggers(of: FunctionCode, hasOnFailure: boolean): EventTrigger[] {
  const leavesTimeouts = hasOnFailure && of.config.finishTimeoutMs !== null;
  return [
    { event: "inngest/function.cancelled", if: leavesTimeouts ? `${isOf(of)} && !(${isFinishTimeout})` : isOf(of) },
  ];
}

function endHandler(
  app: string,
  of: FunctionCode,
  end: "failure" | "cancel",
  handler: (input: any) => unknown,
  triggers: readonly EventTrigger[],
): FunctionCode {
  const id = `${of.config.id}-${end}`;
  return {
    ...of,
    fn: functionSlug(app, id),
    handler,
    handlesEnd: true,
    config: {
      id,
      name: `${of.config.name} (${end})`,
      triggers,
      retries: 1,
      idempotency: null,
      startTimeoutMs: null,
      finishTimeoutMs: null,
    },
  };
}

function readFunction<F>(value: unknown, option: string): F | null {
  if (value === undefined) return null;
  if (typeof value !== "function") throw errors.OPTION_INVALID({ option, why: "it must be a function" });
  return value as F;
}

function readMiddleware(value: unknown): readonly Middleware[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.some((each) => typeof each !== "object" || each === null)) {
    throw errors.OPTION_INVALID({ option: "middleware", why: "it must be a list of objects with hooks" });
  }
  return value;
}
