// The only place that knows all stages: one store, one clock, one worker; and what the doors call.
import type { FunctionCode, Logger, Middleware } from "../execute/function-code.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import { errors } from "../model/errors.ts";
import { Expressions } from "../model/expression.ts";
import { UlidSource } from "../model/ulid.ts";
import { serializeError } from "../model/user-errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { CancelAnswer, Ingested, NewEvent, Store } from "../store/store.ts";
import { endEvents } from "./end-events.ts";
import { limits } from "./limits.ts";
import { type CheckEvents, outgoingEvents } from "./outgoing-events.ts";
import { type PrepareOptions, pairsFor, RunIds } from "./prepare-ingest.ts";
import { Registry } from "./registry.ts";
import { RunEnds } from "./run-ends.ts";
import { StoreTime } from "./store-time.ts";
import { Worker } from "./worker.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly platform: Platform;
  readonly env: string;
  readonly app: string;
  readonly logger: Logger;
  readonly runsInFlight: number;
  readonly leaseTermMs: number;
  readonly eventWindowMs: number;
  readonly checkEvents: CheckEvents;
}

export interface Accepted extends Ingested {
  readonly given: readonly NewEvent[];
}

export class Engine {
  readonly registry: Registry;
  readonly expressions = new Expressions(limits.expressionsCached);
  readonly worker: Worker;
  private readonly codes = new Map<string, FunctionCode>();
  private readonly time: StoreTime;
  private readonly ids: UlidSource;
  /** Who waits for a run to end. */
  readonly ends: RunEnds;

  constructor(private readonly options: EngineOptions) {
    const { store, platform, env, app } = options;
    this.registry = new Registry(store, env, app);
    this.time = new StoreTime(platform);
    this.ids = new UlidSource(
      () => platform.wallMs(),
      (count) => platform.randomBytes(count),
    );
    this.ends = new RunEnds(store, env, platform, (runId) => this.worker.activePass(runId) !== null);
    this.worker = new Worker({
      store,
      platform,
      env,
      registry: this.registry,
      expressions: this.expressions,
      time: this.time,
      newId: () => this.ids.next(),
      random: () => new DataView(platform.randomBytes(4).buffer).getUint32(0) / 2 ** 32,
      codes: this.codes,
      logger: options.logger,
      runsInFlight: options.runsInFlight,
      leaseTermMs: options.leaseTermMs,
      eventWindowMs: options.eventWindowMs,
      checkEvents: options.checkEvents,
      onEnded: (runId, end) => this.ends.announce(runId, end),
    });
  }

  get store(): Store {
    return this.options.store;
  }

  /** The time by the store, as this process knows it. */
  now(): number {
    return this.time.now();
  }

  get env(): string {
    return this.options.env;
  }

  /** Tells the store this app's functions. Matching uses what is registered, so a process that only sends decides the same. */
  async register(codes: readonly FunctionCode[]): Promise<void> {
    const { env, app, store } = this.options;
    if (codes.length > 0) {
      const answer = await store.register({
        env,
        app,
        functions: codes.map(({ fn, config }) => ({ fn, id: config.id, config: JSON.stringify(config) })),
      });
      if (answer.kind === "taken") {
        throw errors.FUNCTION_INVALID({
          function: answer.fn,
          why: `app "${answer.app}" already has a function of that name in this environment`,
        });
      }
      this.codes.clear();
      for (const code of codes) this.codes.set(code.fn, code);
    }
    await this.registry.refresh();
    // Runs of a function that only now has its code here may be waiting.
    this.worker.poke();
  }

  start(): Promise<void> {
    return this.worker.start();
  }

  /** The store stays open: whoever opened it closes it. */
  stop(graceMs: number): Promise<void> {
    return this.worker.stop(graceMs);
  }

  // ------------------------------------------------------------------------------------------------ events

  /** All or nothing: every event is checked before any is stored. */
  async accept(inputs: readonly unknown[], windowMs: number, middleware: readonly Middleware[]): Promise<Accepted> {
    const given = await outgoingEvents(inputs, middleware, this.options.checkEvents);
    if (given.length > limits.eventsPerCallMax) {
      throw errors.EVENT_BATCH_TOO_LARGE({ count: given.length, max: limits.eventsPerCallMax });
    }
    const now = this.time.now();
    const events = given.map((input, i) =>
      acceptEvent(
        input,
        given.length === 1 ? "The event" : `Event ${i + 1} of ${given.length}`,
        { eventId: this.ids.next(), now, windowMs, sourceRunId: null, allowReserved: false },
        limits,
      ),
    );
    if (events.length === 0) {
      return { kind: "ingested", now, events: [], decisions: [], firsts: [], leased: [], queued: false, given: events };
    }
    return { ...(await this.ingest(events)), given: events };
  }

  private prepare(): PrepareOptions {
    return this.worker.prepare();
  }

  private async ingest(events: readonly NewEvent[]): Promise<Ingested> {
    const { store, env, platform } = this.options;
    const runIds = new RunIds(() => this.ids.next());
    for (;;) {
      let reserved = 0;
      const leaseTo = this.worker.takesDeliveries;
      const pairs = pairsFor(events, this.prepare(), runIds, (target) => {
        const worker = this.worker.reserve(target.fn);
        if (worker !== null) reserved++;
        return worker;
      });
      try {
        const before = platform.point("ingest:before-commit");
        if (before !== undefined) await before;
        const askedMono = platform.monoMs();
        const answer = await store
          .ingest({ env, registration: this.registry.registration, events, pairs, leaseTo })
          .catch((error) => {
            if (leaseTo !== null) this.worker.names.doubt(leaseTo);
            throw error;
          });
        if (answer.kind === "stale-registration") {
          await this.registry.refresh();
          continue;
        }
        const after = platform.point("ingest:after-commit");
        if (after !== undefined) await after;
        this.time.note(askedMono, answer.now);
        this.worker.takeIn(answer, leaseTo);
        this.warnOfMissingKeys(answer);
        return answer;
      } finally {
        this.worker.unreserve(reserved);
      }
    }
  }

  signal(signal: string, json: string): Promise<string | null> {
    return this.worker.signal(signal, json);
  }

  /** A run without the key its function asks for is protected by nothing but its steps: somebody should hear of it. */
  private warnOfMissingKeys({ decisions }: Ingested): void {
    for (const { kind, fn, runId, reason } of decisions) {
      if (kind !== "started" || reason === null) continue;
      this.options.logger.warn(`idem: run ${runId} of "${this.registry.displayName(fn)}": ${reason}`);
    }
  }

  // ------------------------------------------------------------------------------------------------ runs

  /** After the answer no new attempt of the run starts. */
  async cancel(runId: string, reason: string): Promise<Exclude<CancelAnswer, { kind: "stale-registration" }>> {
    const { store, env } = this.options;
    const memo = await store.reads.runMemo(env, runId);
    if (memo === null) return { kind: "unknown" };
    const result = serializeError(Object.assign(new Error(reason), { name: "CancelledError", stack: undefined }));
    const releaseKey = this.registry.get(memo.run.fn)?.config.idempotency?.onFailure === "release";
    const runIds = new RunIds(() => this.ids.next());
    const eventIds = [this.ids.next(), this.ids.next()];
    const pass = this.worker.activePass(runId);
    let open = () => {};
    pass?.hold(
      new Promise((resolve) => {
        open = resolve;
      }),
    );
    try {
      for (;;) {
        const ended = { id: runId, fn: memo.run.fn, event: memo.event };
        const ingest = endEvents(ended, "cancelled", result, eventIds, this.prepare(), runIds);
        const answer = await store.cancel({ env, runId, result, releaseKey, ingest });
        if (answer.kind === "stale-registration") {
          await this.registry.refresh();
          continue;
        }
        if (answer.kind === "cancelled") {
          this.worker.cancel(runId);
          this.worker.takeIn(answer.ingested, null);
          this.worker.wake(answer.woken);
          this.ends.announce(runId, { state: "cancelled", result });
        }
        return answer;
      }
    } finally {
      open();
    }
  }

  async rerun(runId: string): Promise<string> {
    const { store, env } = this.options;
    const run = await store.reads.run(env, runId);
    if (run === null) throw errors.RUN_UNKNOWN({ runId });
    const leaseTo = this.worker.reserve(run.fn);
    try {
      const newRunId = this.ids.next();
      const rank = this.time.now();
      const answer = await store.rerun({ env, runId, newRunId, rank, leaseTo }).catch((error) => {
        if (leaseTo !== null) this.worker.names.doubt(leaseTo);
        throw error;
      });
      if (answer.kind === "unknown") throw errors.RUN_UNKNOWN({ runId });
      if (answer.leased !== null) this.worker.take([answer.leased], leaseTo);
      else this.worker.poke();
      return answer.runId;
    } finally {
      if (leaseTo !== null) this.worker.unreserve(1);
    }
  }
}
