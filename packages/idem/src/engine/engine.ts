// The only place that knows all stages: one store, one clock, one worker; and what client, server and command line call.

import type { FunctionCode, Middleware, RemoteCode } from "../execute/function-code.ts";
import { acceptEvent } from "../ingest/accept-events.ts";
import { blockedMaxDefaultMs } from "../model/beats.ts";
import { webhookScope } from "../model/claim.ts";
import { errors } from "../model/errors.ts";
import { Expressions } from "../model/expression.ts";
import { Turns, Work } from "../model/turns.ts";
import { UlidSource } from "../model/ulid.ts";
import { EventTraces } from "../observe/trace-events.ts";
import { Tracing } from "../observe/tracing.ts";
import type { Platform } from "../platform/platform.ts";
import { noteTrace, type TracePoint, writeTraceparent } from "../protocol/traceparent.ts";
import type { WireOp } from "../protocol/wire-ops.ts";
import type { Audited, ByHand } from "../store/audit.ts";
import type { PauseAnswer, PauseInput } from "../store/functions.ts";
import type { Ingested, NewEvent } from "../store/ingest.ts";
import type { UserTransaction } from "../store/outbox.ts";
import type { UnparkAnswer } from "../store/runs.ts";
import type { NodeRole, WorkerAbout } from "../store/sharing.ts";
import type { Store } from "../store/store.ts";
import { type Cancelled, cancelRun } from "./cancel-run.ts";
import { checkedEvents, type KnownOfEvents } from "./checked-events.ts";
import { type CallNamed, checkpointRun } from "./checkpoint-run.ts";
import { CronClock } from "./cron-clock.ts";
import { type IngestingEngine, type IngestingOptions, ingestEvents } from "./ingest-events.ts";
import { eventToInvoke, pairsOfInvoked } from "./invoke-function.ts";
import { KnownCodes } from "./known-codes.ts";
import { limits } from "./limits.ts";
import { LostWrites } from "./lost-writes.ts";
import { Neighbours } from "./neighbours.ts";
import type { CheckEvents } from "./outgoing-events.ts";
import { Presence } from "./presence.ts";
import { Registry } from "./registry.ts";
import { OutboxRelay } from "./relay-outbox.ts";
import type { RerunOptions } from "./rerun-from.ts";
import { rerunRun } from "./rerun-run.ts";
import { Retention } from "./retention.ts";
import { RunEnds } from "./run-ends.ts";
import { StoreHealth } from "./store-health.ts";
import { StoreTime } from "./store-time.ts";
import type { Telling } from "./telling.ts";
import { tickPair } from "./tick-event.ts";
import { UnservedFunctions } from "./unserved-functions.ts";
import { Worker } from "./worker.ts";

export interface EngineOptions {
  readonly store: Store;
  readonly platform: Platform;
  readonly env: string;
  /** The app that rows name: the first name it ever had. */
  readonly app: string;
  /** Every name it had (`was`), where it was renamed. */
  readonly formerApps?: readonly string[];
  readonly telling: Telling;
  readonly runsInFlight: number;
  readonly bytesInFlight?: number | undefined;
  /** Whether lines of the code's logger are kept with its runs; true unless told. */
  readonly keepsLogs?: boolean | undefined;
  readonly leaseTermMs: number;
  /** For so long the main thread may show no life before others take its runs; five minutes by default. */
  readonly blockedMaxMs?: number;
  readonly eventWindowMs: number;
  readonly checkEvents: CheckEvents;
  /** Who this process is among those that share the store; with the role `api` it executes nothing. */
  readonly about?: WorkerAbout;
  /** Functions of the environment are others than before, by this process's word or another's. */
  readonly onRegistered?: () => void;
  /** How long history of this environment is kept; absent or null for ever. */
  readonly retentionMs?: number | null;
  /** Shared by the engines of a process: they have one loop. */
  readonly turns?: Turns;
  /** Shared by the engines over a store. */
  readonly health?: StoreHealth;
  /** False for one that works for seconds and is stopped: no thread is started to extend its leases. */
  readonly stays?: boolean;
}

export interface Accepted extends Pick<Ingested, "events" | "decisions" | "firsts"> {
  readonly given: readonly NewEvent[];
}

const acceptedOf = (given: readonly NewEvent[], { events, decisions, firsts }: Ingested): Accepted => ({
  events,
  decisions,
  firsts,
  given,
});

const nothingAccepted: Accepted = { events: [], decisions: [], firsts: [], given: [] };

export class Engine {
  readonly registry: Registry;
  readonly expressions: Expressions;
  /** How work that may be much gives the loop back. */
  readonly turns: Turns;
  readonly worker: Worker;
  private readonly codes: KnownCodes;
  private readonly time: StoreTime;
  private readonly ids: UlidSource;
  /** Who waits for a run to end. */
  readonly ends: RunEnds;
  private readonly crons: CronClock;
  private readonly retention: Retention | null;
  /** Null where no other process can have the store. */
  private readonly neighbours: Neighbours | null;
  private readonly presence: Presence | null;
  private readonly outbox: OutboxRelay;
  private readonly unserved: UnservedFunctions;
  /** Failures of work in the background are reported to it. */
  readonly health: StoreHealth;
  /** Null where a store cannot lose acknowledged writes while this process has it. */
  private readonly lostWrites: LostWrites | null;
  private readonly ingesting: IngestingEngine;
  private readonly traces: EventTraces;

  constructor(private readonly options: EngineOptions) {
    const { store, platform, env, app, about, leaseTermMs, retentionMs = null } = options;
    this.codes = new KnownCodes({ store, env });
    this.registry = new Registry(
      store,
      env,
      app,
      (fn) => this.codes.fingerprint(fn),
      () => this.now(),
      () => {
        this.crons.refresh();
        // Those in line may come in, and again where a limit that was lowered for a while ends.
        this.worker.limitsChanged();
        options.onRegistered?.();
      },
    );
    const { telling } = options;
    this.health = options.health ?? new StoreHealth({ platform, telling, env, store: async () => store });
    this.turns = options.turns ?? new Turns((run) => platform.soon(run));
    this.expressions = new Expressions(limits.expressionsCached, ({ fn, ...failed }) => {
      const name = fn === null ? null : this.registry.displayName(fn);
      telling.tell({ kind: "expression.failed", env, function: name, ...failed });
    });
    this.time = new StoreTime(platform, (tookMs) => {
      if (!this.health.wasAway(tookMs)) telling.tell({ kind: "store.slow", env, tookMs });
    });
    this.ids = new UlidSource(
      () => platform.wallMs(),
      (count) => platform.randomBytes(count),
    );
    this.ends = new RunEnds(store, env, platform, {
      isAtWork: (runId) => this.worker.activePass(runId)?.isOver === false,
      isStarted: () => this.worker.isRunning,
      now: () => this.time.now(),
      warn: (line) => options.telling.logger.warn(line),
    });
    const history = store.shared?.history;
    this.lostWrites =
      history === undefined || options.stays === false
        ? null
        : new LostWrites({
            history,
            store,
            env,
            node: about?.node ?? "",
            platform,
            now: () => this.time.now(),
            newId: () => this.ids.next(),
            telling,
          });
    const acknowledged = this.lostWrites?.acknowledged ?? null;
    const tracing = new Tracing(platform, () => about?.version ?? "");
    const nameOf = (fn: string) => this.registry.displayName(fn);
    const traces = new EventTraces({ tracing, env, reads: store.reads, nameOf });
    this.traces = traces;
    this.worker = new Worker({
      store,
      platform,
      env,
      health: this.health,
      tracing,
      traces,
      registry: this.registry,
      expressions: this.expressions,
      turns: this.turns,
      time: this.time,
      newId: () => this.ids.next(),
      random: () => new DataView(platform.randomBytes(4).buffer).getUint32(0) / 2 ** 32,
      codes: this.codes.byName,
      telling: options.telling,
      runsInFlight: options.runsInFlight,
      bytesInFlight: options.bytesInFlight ?? limits.bytesInFlight,
      keepsLogs: this.keepsLogs,
      leaseTermMs,
      blockedMaxMs: options.blockedMaxMs ?? blockedMaxDefaultMs,
      about,
      eventWindowMs: options.eventWindowMs,
      checkEvents: options.checkEvents,
      stays: options.stays ?? true,
      acknowledged,
      onEnded: (runId, end) => this.ends.announce(runId, end),
      onLeft: (runId) => this.ends.left(runId),
      cancelRun: (runId, reason) => this.cancel(runId, reason),
    });
    this.crons = new CronClock({
      store,
      platform,
      env,
      registry: this.registry,
      time: this.time,
      worker: this.worker,
      traces,
      newId: () => this.ids.next(),
      pairOf: (target, event, tick, runId, leaseTo) =>
        tickPair(target, event, tick, { env, runId, now: this.time.now(), leaseTo }, this.expressions),
      report: (what, error) => this.worker.report(what, error),
    });
    this.retention =
      retentionMs === null
        ? null
        : new Retention({
            store,
            platform,
            time: this.time,
            env,
            keepMs: retentionMs,
            name: store.shared === null || options.stays === false ? null : this.ids.next(),
            report: (what, error) => this.worker.report(what, error),
          });
    const { registry, time, worker, turns } = this;
    const newId = () => this.ids.next();
    this.ingesting = { store, platform, env, registry, worker, time, telling, turns, traces, newId, acknowledged };
    const beside = { store, platform, time, report: (what: string, error: unknown) => this.report(what, error) };
    this.neighbours =
      store.shared === null
        ? null
        : new Neighbours({
            ...beside,
            shared: store.shared,
            env,
            registry,
            onQueued: () => this.worker.poke(),
            atWorkOn: (runId) => this.worker.activePass(runId),
            atWork: () => this.worker.activePasses,
          });
    this.presence = this.executes
      ? null
      : new Presence({ ...beside, newId: () => this.ids.next(), leaseTermMs, about });
    this.outbox = new OutboxRelay({ ...beside, env, ingest: (events) => this.ingest(events) });
    this.unserved = new UnservedFunctions({
      ...beside,
      env,
      telling,
      registry,
      runsHere: (fn) => this.executes && this.canRun(fn),
    });
  }

  private report(what: string, error: unknown): void {
    this.health.report(what, error);
  }

  /** Whether lines of the code's logger are kept with its runs. */
  get keepsLogs(): boolean {
    return this.options.keepsLogs ?? true;
  }

  get role(): NodeRole {
    return this.options.about?.role ?? "all";
  }

  /** False in a process that leaves runs and schedules to others. */
  get executes(): boolean {
    return this.role !== "api";
  }

  /** Where what happens here is told. */
  get telling(): Telling {
    return this.options.telling;
  }

  get store(): Store {
    return this.options.store;
  }

  /** The time by the store, as this process knows it. */
  now(): number {
    return this.time.now();
  }

  newId(): string {
    return this.ids.next();
  }

  /** For what somebody looks for in many rows; without a bound where rows are few. */
  work(costMax = Number.POSITIVE_INFINITY, msMax = Number.POSITIVE_INFINITY): Work {
    const { platform } = this.options;
    const until = platform.monoMs() + msMax;
    return new Work(this.turns, costMax, () => platform.monoMs() >= until);
  }

  get env(): string {
    return this.options.env;
  }

  /** Whether this process has the code of a function, or reaches an app that does. */
  canRun(fn: string): boolean {
    return this.codes.byName.has(fn);
  }

  /** Tells the store this app's functions. Matching uses what is registered, so a process that only sends decides the same. */
  async register(codes: readonly FunctionCode[]): Promise<void> {
    if (codes.length > 0) {
      const { app, formerApps = [] } = this.options;
      await this.codes.register(app, codes, formerApps);
      this.codes.clear();
    }
    await this.learn(codes);
  }

  /** Functions whose code is here and which the store knows already, and what else it knows. */
  async learn(codes: readonly FunctionCode[]): Promise<void> {
    this.codes.add(codes);
    if (codes.length > 0) this.worker.codesChanged();
    await this.registry.refresh();
    // What is dated here is dated by the store's clock: an event that a process ahead of it dated by its own would put its runs off.
    const { platform, store } = this.options;
    const askedMono = platform.monoMs();
    if (!this.time.isHeard) this.time.note(askedMono, await store.reads.now());
    this.crons.refresh();
    // Runs of a function that only now has its code here may be waiting.
    this.worker.poke();
  }

  /** Replaces the functions of an app whose code is elsewhere: what it no longer names is not executed any more. */
  async serve(
    app: string,
    codes: readonly RemoteCode[],
    formerApps: readonly string[] = [],
  ): Promise<{ readonly changed: boolean }> {
    const changed = await this.codes.register(app, codes, formerApps);
    await this.registry.refresh();
    this.crons.refresh();
    this.reach(app, codes);
    return { changed };
  }

  /** Functions of an app as the store already knows them can be reached from here. */
  reach(app: string, codes: readonly RemoteCode[]): void {
    this.codes.reach(app, codes);
    this.worker.codesChanged();
    this.worker.poke();
  }

  /** Apps whose functions were reachable from here at some time. */
  get servedApps(): Iterable<string> {
    return this.codes.servedApps;
  }

  /** Steps an app reports while it is being called; throws CHECKPOINT_STALE when it must stop. */
  checkpoint(runId: string, from: CallNamed, ops: readonly WireOp[]): Promise<void> {
    const { store, env, telling } = this.options;
    const of = { worker: this.worker, store, env, logger: telling.logger, now: () => this.time.now() };
    return checkpointRun(of, runId, from, ops);
  }

  async start(): Promise<void> {
    this.neighbours?.start();
    if (this.options.stays !== false) this.unserved.start();
    await this.presence?.start();
    if (!this.executes) return;
    await this.worker.start();
    this.crons.start();
    this.retention?.start();
    this.outbox.start();
  }

  /** Resolves once nothing runs, nothing is being delivered and no tick is on its way. */
  async idle(): Promise<void> {
    await this.crons.idle();
    await this.outbox.idle();
    await this.worker.idle();
    await this.traces.idle();
    await this.lostWrites?.idle();
  }

  /** When something is due by itself, as far as this engine has looked; null for never, undefined while its last look failed. */
  get nextDueAt(): number | null | undefined {
    const [work, ticks] = [this.worker.nextDueAt, this.crons.nextAt];
    if (work === undefined || ticks === undefined) return undefined;
    return work === null || ticks === null ? (work ?? ticks) : Math.min(work, ticks);
  }

  /** Looks for due work once more. */
  look(): void {
    this.worker.poke();
    this.crons.poke();
  }

  /** What retention deletes, batch after batch until nothing old is left or time is over; one at least. */
  async prune(isOver: () => boolean): Promise<void> {
    await this.retention?.deleteAll(isOver);
  }

  /** The store stays open: whoever opened it closes it. */
  async stop(graceMs: number): Promise<void> {
    this.retention?.stop();
    this.unserved.stop();
    this.lostWrites?.stop();
    // Side by side: a store that answers none of them must not keep steps from being finished.
    await this.worker.stop(graceMs, Promise.all([this.crons.stop(), this.outbox.stop()]));
    await this.traces.idle();
    // Until here: what is being finished may be told that it is cancelled.
    this.neighbours?.stop();
    await this.presence?.stop();
    if (this.options.health === undefined) this.health.stop();
  }

  // ------------------------------------------------------------------------------------------------ events

  /**
   * All or nothing: every event is checked before any is stored. `eventIds` are ids the sender derived: an event that is
   * already stored under its id is answered as it was decided then.
   */
  accept(
    inputs: readonly unknown[],
    windowMs: number,
    middleware: readonly Middleware[],
    known: KnownOfEvents = {},
  ): Promise<Accepted> {
    try {
      const checked = this.check(inputs, windowMs, middleware, known);
      if (!("then" in checked)) return this.acceptChecked(checked, known);
      return checked.then((events) => this.acceptChecked(events, known));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private acceptChecked(events: readonly NewEvent[], { byHand, idScope }: KnownOfEvents): Promise<Accepted> {
    if (events.length === 0) return Promise.resolve(nothingAccepted);
    const ingested = this.ingest(events, { byHand, isDelivery: idScope === webhookScope });
    return ingested.then((answer) => acceptedOf(events, answer));
  }

  /** Writes the events into a transaction of the user's: accepted exactly if it commits, under the ids that are answered. */
  async queue(
    inputs: readonly unknown[],
    windowMs: number,
    middleware: readonly Middleware[],
    tx: UserTransaction,
  ): Promise<readonly string[]> {
    const events = (await this.check(inputs, windowMs, middleware)).map((event) => this.traces.noteActive(event));
    await this.outbox.put(tx, events);
    return events.map(({ id }) => id);
  }

  /** Throws for one that does not fit its schema. */
  async checkEvent(event: unknown): Promise<void> {
    await this.options.checkEvents?.([event]);
  }

  private check(
    inputs: readonly unknown[],
    windowMs: number,
    middleware: readonly Middleware[],
    known: KnownOfEvents = {},
  ): readonly NewEvent[] | Promise<readonly NewEvent[]> {
    const { checkEvents: check } = this.options;
    return checkedEvents(inputs, windowMs, middleware, known, {
      check,
      now: () => this.now(),
      newId: () => this.newId(),
    });
  }

  /** Starts exactly this function, with an event of its own that carries the data of `input`. */
  async invoke(
    idOrSlug: string,
    input: unknown,
    windowMs: number,
    {
      eventId = this.ids.next(),
      byHand,
      trace = null,
    }: { readonly eventId?: string; readonly byHand?: ByHand | undefined; readonly trace?: TracePoint | null } = {},
  ): Promise<Accepted> {
    // Another process may have registered it since.
    if (this.registry.find(idOrSlug) === null) await this.registry.refresh();
    const made = eventToInvoke(idOrSlug, input, { eventId, now: this.time.now(), windowMs });
    const event = trace === null ? made : noteTrace(made, writeTraceparent(trace));
    return acceptedOf([event], await this.ingest([event], { pairsOf: pairsOfInvoked(idOrSlug), byHand }));
  }

  /** What Idem itself has to say, under names nobody else may use. Each has an id, so a second telling is the same as the first. */
  async announce(inputs: readonly unknown[], windowMs: number): Promise<void> {
    const events = inputs.map((input) => {
      const facts = { eventId: this.ids.next(), now: this.now(), windowMs, sourceRunId: null, allowReserved: true };
      return acceptEvent(input, "What Idem announces", facts, limits);
    });
    await this.ingest(events);
  }

  private ingest(events: readonly NewEvent[], options?: IngestingOptions): Promise<Ingested> {
    return ingestEvents(this.ingesting, events, options);
  }

  /** Paused, a function starts no runs: its events are decided as `paused`. Open runs go on. */
  async pause(input: Omit<PauseInput, "env">): Promise<Extract<PauseAnswer, { kind: "set" }>> {
    const { store, env } = this.options;
    const answer = await store.pause({ env, ...input });
    if (answer.kind === "unknown") throw errors.FUNCTION_UNKNOWN({ function: input.fn });
    await this.registry.refresh();
    this.crons.refresh();
    return answer;
  }

  signal(signal: string, json: string, byHand?: Audited): Promise<string | null> {
    return this.worker.signal(signal, json, byHand);
  }

  // ------------------------------------------------------------------------------------------------ runs

  /** After the answer no new attempt of the run starts in this process; another that holds it hears of it. */
  cancel(runId: string, reason: string, byHand?: ByHand): Promise<Cancelled> {
    return cancelRun(this, runId, reason, byHand);
  }

  /** A person lets a parked run go on. */
  async release(runId: string, byHand?: ByHand): Promise<UnparkAnswer> {
    const answer = await this.store.unpark({ env: this.env, runId, byHand });
    if (answer.kind === "released") this.worker.poke();
    return answer;
  }

  rerun(runId: string, options: RerunOptions = {}): Promise<string> {
    return rerunRun(this, runId, options);
  }
}
