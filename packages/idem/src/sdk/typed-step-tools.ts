// `step` as a handler sees it: with the types of what its callbacks return, of the events of the schemas, and of the functions it invokes.
import type { EffectContext, EffectOptions } from "../execute/effect.ts";
import type { LimitedIdInput, StepIdInput } from "../execute/step-name.ts";
import type {
  InvokeOptions,
  SendSignalOptions,
  TimeInput,
  WaitForEventOptions,
  WaitForSignalOptions,
} from "../execute/step-options.ts";
import type { StepContext, StepTools } from "../execute/step-tools.ts";
import type { UserDatabase } from "../execute/user-transaction.ts";
import type { TransactionClient } from "../store/transactional.ts";
import type { DataOf, EventName, EventSchemas, EventsGiven, HeardName, ReceivedEvent, Untyped } from "./event-types.ts";

/** Each tool is described here, with an example: an editor shows it (repository-checks.test.ts looks that none is forgotten). */
export interface TypedStepTools<Schemas extends EventSchemas = EventSchemas> {
  /**
   * Runs `body` unless it has an outcome already; its value is kept, as JSON, and given back on every replay. `key` is the same on every retry, rerun and duplicate run: hand it
   * to the system you write to.
   *
   * @example const charge = await step.run("charge-card", ({ key }) => stripe.charges.create(order, { idempotencyKey: key }));
   */
  run<Args extends unknown[], Value>(
    id: LimitedIdInput,
    body: (...args: [...Args, StepContext]) => Value,
    ...args: Args
  ): Promise<Jsonify<Awaited<Value>>>;
  /**
   * The same for a callback that names its arguments and leaves out the context, which would be taken for the last of them.
   *
   * @example const total = await step.run("add-up", (lines: Line[]) => sum(lines), order.lines);
   */
  run<Args extends unknown[], Value>(
    id: LimitedIdInput,
    body: (...args: Args) => Value,
    ...args: Args
  ): Promise<Jsonify<Awaited<Value>>>;
  /**
   * Commits the writes of `body`, made with `tx`, a client of `pg`, together with the step's outcome in the engine's PostgreSQL: exactly once.
   *
   * @example await step.transaction("book", (tx) => tx.query("update seats set taken = true where id = $1", [seat]));
   */
  transaction<Value>(
    id: LimitedIdInput,
    body: (tx: TransactionClient, context: StepContext) => Value,
  ): Promise<Jsonify<Awaited<Value>>>;
  /**
   * The same on a database of your own: `adapter` is one of idem/sql, and the table `idem_steps` is in it.
   *
   * @example await step.transaction("book", pgAdapter(pool), (tx) => tx.query("update seats set taken = true where id = $1", [seat]));
   */
  transaction<Tx, Value>(
    id: LimitedIdInput,
    adapter: UserDatabase<Tx>,
    body: (tx: Tx, context: StepContext) => Value,
  ): Promise<Jsonify<Awaited<Value>>>;
  /**
   * A call to a system outside, recorded with its receipt: a repeat gets the recorded value, and once the destination may have forgotten the
   * key it is looked up or parked instead of sent again.
   *
   * @example
   * const invoice = await step.effect("create-invoice", { destination: "stripe", entity: order.id }, ({ key }) =>
   *   stripe.invoices.create(draft, { idempotencyKey: key }),
   * );
   */
  effect<Value>(
    id: LimitedIdInput,
    options: EffectOptions<Value>,
    call: (context: EffectContext) => Value | Promise<Value>,
  ): Promise<Jsonify<Value>>;
  /**
   * Waits `"2s"`, `"30d"` or milliseconds. Nothing of the run is in memory meanwhile, and a process that is restarted changes nothing of when it ends.
   *
   * @example await step.sleep("before-the-reminder", "3d");
   */
  sleep(id: StepIdInput, duration: string | number): Promise<void>;
  /**
   * Waits until an instant: a Date, ISO 8601, or milliseconds since 1970.
   *
   * @example await step.sleepUntil("due-date", event.data.dueAt);
   */
  sleepUntil(id: StepIdInput, time: TimeInput): Promise<void>;
  /**
   * The event, or null once the timeout is over. Starts listening when the call is reached: earlier events do not count.
   *
   * @example const paid = await step.waitForEvent("paid", { event: "order/paid", match: "data.orderId", timeout: "7d" });
   */
  waitForEvent<const Name extends HeardName<Schemas>>(
    id: StepIdInput,
    options: WaitForEventOptions & { readonly event: Name },
  ): Promise<ReceivedEvent<Name, DataOf<Schemas, Name>> | null>;
  /**
   * `{ signal, data }`, or null once the timeout is over. One run waits for a signal at a time. Only the sender knows the type of `data`.
   *
   * @example const answer = await step.waitForSignal<{ approved: boolean }>("ask", { signal: `approve-${order.id}`, timeout: "2d" });
   */
  waitForSignal<Data = unknown>(
    id: StepIdInput,
    options: WaitForSignalOptions,
  ): Promise<{ readonly signal: string; readonly data: Data } | null>;
  /**
   * Wakes the run that waits for this signal; `runId` is null when no run does.
   *
   * @example await step.sendSignal("approve", { signal: `approve-${order.id}`, data: { approved: true } });
   */
  sendSignal(id: LimitedIdInput, options: SendSignalOptions): Promise<{ runId: string | null }>;
  /**
   * Runs a function that is known by its name, `<app>-<id>`, and waits for what it returns; its failure is thrown here.
   *
   * @example const report = await step.invoke<Report>("report", { function: "billing-report", data: { month: 5 } });
   */
  invoke<Output = unknown>(id: StepIdInput, options: InvokeOptions & { readonly function: string }): Promise<Output>;
  /**
   * Runs another function and waits for what it returns; its failure is thrown here.
   *
   * @example const { total } = await step.invoke("add-up", { function: addUp, data: { orderId: order.id } });
   */
  invoke<Data, Output>(id: StepIdInput, options: InvokeFunction<Data, Output>): Promise<Output>;
  /**
   * Sends one event or many in the same commit that records the step. Without an id of its own each gets one from the step.
   *
   * @example await step.sendEvent("tell-shipping", { name: "order/paid", data: { orderId: order.id } });
   */
  sendEvent<const Name extends EventName<Schemas>>(
    id: LimitedIdInput,
    events: EventsGiven<Schemas, Name>,
  ): Promise<{ ids: string[] }>;
  /**
   * A durable HTTP request: any answer is kept, a failure to reach the server is retried.
   *
   * @example const response = await step.fetch("rates", "https://api.example.com/rates");
   */
  readonly fetch: StepTools["fetch"];
}

/** A function that `step.invoke` can call: its id, and for the compiler the types it takes and gives. */
export interface Invocable<Data = Untyped, Output = unknown> {
  readonly id: string;
  /** Never there: for the compiler. */
  readonly "~types"?: { readonly data: Data; readonly output: Output } | undefined;
}

type InvokeFunction<Data, Output> = Omit<InvokeOptions, "function" | "data"> & {
  readonly function: Invocable<Data, Output>;
} & (undefined extends Data ? { readonly data?: Data } : { readonly data: Data });

/** The type of a value that went through JSON, as every step's value does. */
export type Jsonify<Value> = unknown extends Value
  ? Value
  : Value extends { toJSON(): infer Json }
    ? Json
    : Value extends string | number | boolean | null
      ? Value
      : Value extends void
        ? null
        : Value extends (...args: never[]) => unknown
          ? never
          : Value extends readonly unknown[]
            ? { [K in keyof Value]: Jsonify<Value[K]> }
            : Value extends object
              ? { [K in keyof Value]: JsonifyField<Value[K]> }
              : never;

// A field that may be undefined may be absent afterwards; an element or a whole value becomes null.
type JsonifyField<Value> = undefined extends Value ? Jsonify<Exclude<Value, undefined>> | undefined : Jsonify<Value>;
