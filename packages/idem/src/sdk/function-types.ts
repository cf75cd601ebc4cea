// The options of a function and the context of its handler, with the types of the events that start it.
import type { FunctionCode, Logger, Middleware } from "../execute/function-code.ts";
import type { Backoff } from "../execute/retry.ts";
import type { FlowWritten } from "../flow/options.ts";
import type { OnDiverged } from "../model/divergence.ts";
import type { FormerIds } from "../model/former-ids.ts";
import type { SerializedError } from "../model/user-errors.ts";
import type { DataOf, EventSchemas, HeardName, NamedIn, ReceivedEvent, Untyped } from "./event-types.ts";
import type { Invocable, TypedStepTools } from "./typed-step-tools.ts";

export interface IdempotencyOptions {
  /** CEL over `event`: what makes two events the same to this function. */
  readonly key: string;
  /** How long the key stays taken, "24h" by default; "until-finished" keeps it past that while the run is open. */
  readonly window?: string | number;
  /** Whether a failed or cancelled run gives the key back. */
  readonly afterFailure?: "keep" | "release";
  /** Whether an event whose key is missing, null or fails is run or rejected; "run" by default. */
  readonly onMissing?: "run" | "reject";
}

/** The function has no key, and this is why: "each tick is new work". */
export interface UnkeyedOptions {
  /** The reason, for people who look for functions without a key. */
  readonly none: string;
}

export interface FunctionOptions<Event = ReceivedEvent<string, Untyped>, Schemas extends EventSchemas = EventSchemas>
  extends FlowWritten {
  /**
   * Its name in its app, under which it is recorded: unique there, and never changed without `was`.
   *
   * @example idem.createFunction({ id: "draft-invoice" }, { event: "order/paid" }, handler)
   */
  readonly id: string;
  /**
   * The id this function had before it was renamed. It goes on being recorded under that id: open runs, windows, limits, schedules, its pause and the keys
   * its steps hand out stay what they were, and both ids start it. Of several, the first it ever had comes first. It comes in the deployment that
   * renames, and stays.
   *
   * @example idem.createFunction({ id: "charge-customer", was: "bill-customer" }, { event: "order/paid" }, handler)
   */
  readonly was?: string | FormerIds;
  /**
   * For people, where the id is too short; nothing is found by it.
   *
   * @example { id: "draft-invoice", name: "Draft the invoice of a paid order" }
   */
  readonly name?: string;
  /**
   * How often a step, or the code between steps, is tried again: 4 by default, 0 to 20.
   *
   * @example { id: "charge", retries: 10 }
   */
  readonly retries?: number;
  /**
   * Its key, CEL over `event`: two events with one key are the same to it. Or `{ none: "why" }`, where events with other ids are other work.
   *
   * @example { id: "draft-invoice", idempotency: "event.data.placementId" }
   * @example { id: "draft-invoice", idempotency: { key: "event.data.placementId", window: "30d", onMissing: "reject" } }
   */
  readonly idempotency?: string | IdempotencyOptions | UnkeyedOptions;
  /**
   * Limits on a run's wait to begin, on its whole time, and on each attempt of its steps.
   *
   * @example { id: "charge", timeouts: { start: "10m", finish: "1h", step: "30s" } }
   */
  readonly timeouts?: {
    /** The longest a run may take from its opening to its beginning, however long its lane is; then it is ended. */
    readonly start?: string | number;
    /** The longest a run may be open after its beginning, sleeps and waits included; then it is ended. */
    readonly finish?: string | number;
    /** The longest one attempt of a step may take, unless the step has a `timeout` of its own. */
    readonly step?: string | number;
  };
  /**
   * The most entries in a row into the code that lose their process before anything came of them: 5 by default, 1 to 1,000. Then the run is
   * parked for a person, or fails. Every outcome begins the count anew. The third entry is put off by `delay`, "5s" by default, at most "1h";
   * the next ones by up to nine times as much, each spread by chance over three times its length.
   *
   * @example { id: "transcode", entries: { max: 3, onMax: "park", delay: "30s" } }
   */
  readonly entries?: {
    /** The most entries in a row. */
    readonly max?: number;
    /** Whether the run is parked then, or fails: "park" by default. */
    readonly onMax?: "park" | "fail";
    /** The delay of the third entry. */
    readonly delay?: string | number;
  };
  /**
   * Milliseconds to wait after the given attempt failed, instead of the table of docs/functions.md#when-something-fails.
   *
   * @example { id: "charge", backoff: (attempt) => 1_000 * 2 ** attempt }
   */
  readonly backoff?: Backoff;
  /**
   * Called once the run has failed for good, or was ended by `timeouts.finish`; a run of its own, with `error` and the run's event.
   *
   * @example { id: "charge", onFailure: ({ event, error, step }) => step.run("tell", () => tell(event.data.run_id, error.message)) }
   */
  readonly onFailure?: (context: EndContext<Event, Schemas>) => unknown;
  /**
   * Called once the run was cancelled: by a person, by an event of `cancelOn`, by a newer run that takes its place, by `timeouts.start`; and by
   * `timeouts.finish` where there is no `onFailure`. As `onFailure`, a run of its own; `error` says why.
   *
   * @example { id: "reserve", onCancel: ({ event, step }) => step.run("give-back", () => giveBack(event.data.event.data.seat)) }
   */
  readonly onCancel?: (context: EndContext<Event, Schemas>) => unknown;
  /**
   * Around the code of its runs and steps, inside of the client's own.
   *
   * @example { id: "charge", middleware: [withTenant] }
   */
  readonly middleware?: readonly Middleware[];
  /**
   * For a run whose code no longer asks for a step it had begun, after a change of the code say: "warn" by default. "park" and "fail" stop it
   * before anything is done in that step's place.
   *
   * @example { id: "charge", onDiverged: "park" }
   */
  readonly onDiverged?: OnDiverged;
}

export type TriggerInput<Schemas extends EventSchemas = EventSchemas> = EventInput<Schemas> | CronInput;

export interface EventInput<Schemas extends EventSchemas = EventSchemas> {
  /** A name; or one that ends in `*`, for all that begin so. */
  readonly event: HeardName<Schemas> | `${string}*`;
  /** CEL over `event`: the function starts only where it is true. */
  readonly if?: string;
}

export interface CronInput {
  /** Five fields, optionally after a zone: "TZ=Europe/Paris 0 9 * * 1". UTC by default. */
  readonly cron: string;
  /** Puts each start off by up to this much: "1s" to "5m". */
  readonly jitter?: string | number;
  /** Which missed ticks are started: "last" by default; "all" means the newest 100. */
  readonly missed?: "skip" | "last" | "all" | { readonly all: number };
}

export interface HandlerContext<Event, Schemas extends EventSchemas = EventSchemas> {
  /** The event that started the run; the first of them where it takes batches. */
  readonly event: Event;
  /** All events that started the run: more than one where it takes batches. */
  readonly events: readonly Event[];
  /** The tools for work that is done once: each one's outcome is kept, and given back on every replay. */
  readonly step: TypedStepTools<Schemas>;
  /** The run's own id, the same on every replay. */
  readonly runId: string;
  /** The attempt of the code between steps, counted from 1. */
  readonly attempt: number;
  /** Entries into the code in a row, this one included: more than one where a process was lost in the middle of it. */
  readonly entered: number;
  /** `retries` and one. */
  readonly maxAttempts: number;
  /** Its lines carry the run; it is silent while the code is replayed. */
  readonly logger: Logger;
}

/** The context of `onFailure` and `onCancel`: a run of their own, whose event describes the one that ended. */
export interface EndContext<Event, Schemas extends EventSchemas = EventSchemas>
  extends HandlerContext<
    ReceivedEvent<"inngest/function.failed" | "inngest/function.cancelled", EndData<Event>>,
    Schemas
  > {
  /** Why it ended. */
  readonly error: Error;
}

export interface EndData<Event> {
  /** `<app>-<id>` */
  readonly function_id: string;
  readonly run_id: string;
  /** The event it was started with. */
  readonly event: Event;
  readonly events: readonly Event[];
  readonly error: SerializedError;
}

/** The event a handler receives from its triggers, distinguished by `name`. */
export type EventOf<Schemas extends EventSchemas, Input> = Input extends readonly (infer Each)[]
  ? [Each] extends [never]
    ? ReceivedEvent<string, Untyped>
    : HeardOf<Schemas, Each>
  : HeardOf<Schemas, Input>;

type HeardOf<Schemas extends EventSchemas, Input> = Input extends { readonly event: infer Name extends string }
  ? string extends Name
    ? ReceivedEvent<string, Untyped>
    : Name extends `${infer Begin}*`
      ? BegunWith<Schemas, Begin>
      : ReceivedEvent<Name, DataOf<Schemas, Name>>
  : ReceivedEvent<string, Untyped>;

type BegunWith<Schemas extends EventSchemas, Begin extends string> = string extends keyof Schemas
  ? ReceivedEvent<string, Untyped>
  :
      | {
          [Name in NamedIn<Schemas> & `${Begin}${string}`]: ReceivedEvent<Name, DataOf<Schemas, Name>>;
        }[NamedIn<Schemas> & `${Begin}${string}`]
      | ("*" extends keyof Schemas ? ReceivedEvent<string, DataOf<Schemas, string>> : never);

/** The data that `step.invoke` hands to a function: that of any event that starts it; whatever is given where none does. */
export type InvokedWith<Event> = Event extends ReceivedEvent<string, infer Data> ? Data : never;

/** A function as its author holds it: pass it to `step.invoke`, or ignore it. */
export interface IdemFunction<Data = Untyped, Output = unknown> extends Invocable<Data, Output> {
  /** Its name in the environment. */
  readonly slug: string;
  /** The code that the engine executes; for tools such as idem/testing. */
  readonly code: FunctionCode;
}
