// The client: what a user constructs. Its functions run in its own process (embedded.ts), or are called by a server (remote-server.ts);
// what a user sends and asks is the same.
import { doPart } from "../engine/bulk/bulk-part.ts";
import { limits } from "../engine/limits.ts";
import type { Readiness } from "../engine/readiness.ts";
import { readRetention } from "../engine/retention.ts";
import type { Swept } from "../engine/sweep.ts";
import { type Listener, Telling } from "../engine/telling.ts";
import type { FunctionCode } from "../execute/function-code.ts";
import { silentLogger } from "../execute/log-style.ts";
import { readBlockedMax } from "../model/beats.ts";
import { type EventIdScope, webhookScope } from "../model/claim.ts";
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { placeOf } from "../model/event.ts";
import { readFormerIds } from "../model/former-ids.ts";
import { defaultWindowMs } from "../model/function-config.ts";
import { type AppNames, nameShared, recordedApp, recordedNames, shownName } from "../model/function-names.ts";
import { toJson } from "../model/json.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { readStoreTimeout } from "../model/store-timeout.ts";
import type { TidingsKind } from "../model/tidings.ts";
import { activeTraceparent } from "../observe/tracing.ts";
import { environmentVariable, nodePlatform } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";
import {
  type IdemOptions,
  readBudget,
  readLogger,
  readWindow,
  type SendInTransaction,
  type SendOptions,
  type SweepOptions,
} from "./client-options.ts";
import { defineFunction } from "./create-function.ts";
import { type EffectsApi, effectsApi } from "./effects-api.ts";
import { Embedded } from "./embedded.ts";
import { checkSchema, type EventName, type EventSchemas, type EventsGiven, type Untyped } from "./event-types.ts";
import type { Explain } from "./explain-api.ts";
import { nameIn } from "./find-subject.ts";
import type {
  EventOf,
  FunctionOptions,
  HandlerContext,
  IdemFunction,
  InvokedWith,
  TriggerInput,
} from "./function-types.ts";
import { type FunctionsApi, functionsApi, resumeOnePart } from "./functions-api.ts";
import { type Inside, inside } from "./inside.ts";
import { checkedReads, refuseUnknownClientOptions, refuseUnknownSendOptions } from "./known-client-options.ts";
import { makersOf, noteMakers, traceAbove } from "./made-by.ts";
import { type DashboardHandler, type DashboardOptions, openDashboard } from "./open-dashboard.ts";
import { type EventsApi, eventsApi, type RunsApi, runsApi } from "./reads-api.ts";
import { keysOf, type ServedClient, serverOf } from "./remote-client.ts";
import { remoteReads, type StoreReads } from "./remote-reads.ts";
import { sendToServer } from "./remote-send.ts";
import { defaultServer, RemoteServer } from "./remote-server.ts";
import { type QueuedResult, type SendResult, sendResultOf } from "./send-result.ts";
import { takingClients } from "./take-client.ts";
import type { Jsonify } from "./typed-step-tools.ts";

export class Idem<Schemas extends EventSchemas = Untyped> {
  readonly id: string;
  readonly env: string;
  readonly [inside]: Inside = {
    tell: (asked) => this.reads.tell(asked),
    deliveries: {
      send: (events, { isShared, ...options }) =>
        this.sendIn(webhookScope, events, options, isShared) as Promise<SendResult>,
      get: (id) => this.reads.events.get(id, { scope: webhookScope }),
    },
    resumePart: async (id, options) => resumeOnePart(await this.embedded.engine(), id, options),
    bulkPart: async (...part) => doPart(await this.embedded.engine(), ...part),
    serving: () => this.serving(),
    keeping: () => {
      if (this.remote !== null) throw errors.STORE_ELSEWHERE({ client: this.id, server: this.remote.origin });
      this.isKeeping = true;
      return { env: this.env, store: async () => (await this.embedded.engine()).store };
    },
  };
  private readonly options: IdemOptions<Schemas>;
  private readonly names: AppNames;
  private readonly platform: Platform;
  private readonly telling: Telling;
  private readonly eventWindowMs: number;
  private readonly codes: FunctionCode[] = [];
  private embedded: Embedded;
  private readonly isTaken: boolean;
  /** Taken, and not moved yet: what it is sent is kept, and nothing runs. */
  private isParked: boolean;
  /** Set once the toolkit keeps something in this client's store. */
  private isKeeping = false;
  /** Set for a client whose store is at a server. */
  private remote: RemoteServer | null = null;
  private reads: StoreReads;
  private readonly warn = (message: string): void => this.telling.logger.warn(`idem: ${message}`);

  constructor(options: IdemOptions<Schemas>) {
    const checkId = (option: string, id: unknown): void => {
      if (typeof id === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id)) return;
      throw errors.OPTION_INVALID({ option, why: "it must be 1 to 64 letters, digits, dots, dashes or underscores" });
    };
    checkId("id", options?.id);
    const was = readFormerIds(options.id, options.was, (why) => errors.OPTION_INVALID({ option: "was", why }));
    for (const former of was ?? []) checkId("was", former);
    const { runsInFlight, bytesInFlight } = options;
    for (const [option, value] of Object.entries({ runsInFlight, bytesInFlight })) {
      if (value !== undefined && (!Number.isInteger(value) || value < 1)) {
        throw errors.OPTION_INVALID({ option, why: "it must be a whole number above 0" });
      }
    }
    this.options = options;
    this.id = options.id;
    this.names = { id: options.id, was };
    this.env = options.env ?? "default";
    const taking = takingClients();
    this.isTaken = taking !== null;
    this.isParked = this.isTaken;
    if (!this.isTaken) noteMakers(this, traceAbove(Idem as never));
    this.platform = taking?.platform ?? options.platform ?? nodePlatform;
    const logged = readLogger(options);
    this.telling = new Telling({
      ...logged,
      ...(this.isTaken ? { logger: silentLogger } : {}),
      platform: this.platform,
    });
    refuseUnknownClientOptions(options, this.warn);
    this.eventWindowMs = readWindow(options.eventWindow, "eventWindow") ?? defaultWindowMs;
    const storeTimeoutMs = readStoreTimeout(options.storeTimeout ?? environmentVariable("IDEM_STORE_TIMEOUT"));
    const others = new Map<string, Idem>();
    const embed = (store: string | Store) =>
      new Embedded({
        names: this.names,
        env: this.env,
        store,
        platform: this.platform,
        telling: this.telling,
        runsInFlight: runsInFlight ?? limits.runsInFlight,
        bytesInFlight,
        keepsLogs: options.runLogs ?? true,
        eventWindowMs: this.eventWindowMs,
        blockedMaxMs: readBlockedMax(options.blockedMax),
        storeTimeoutMs,
        retentionMs: options.retention === undefined ? null : readRetention(options.retention),
        hasRadar: options.radar !== false && !this.isTaken,
        isPlayed: this.platform !== nodePlatform,
        checkEvents: options.events === undefined ? null : (events) => this.checkEvents(events),
        codes: this.codes,
        clientIn: (env, store) => {
          if (env === this.env) return this;
          const { id, platform } = this;
          const { logger = console, logStyle } = options;
          const how = { ...(logStyle === undefined ? {} : { logStyle }), ...(was === null ? {} : { was }) };
          const client = others.get(env) ?? new Idem({ id, env, store, platform, logger, ...how });
          others.set(env, client);
          return client;
        },
      });
    const store = options.store ?? environmentVariable("IDEM_STORE") ?? `sqlite:.idem/${recordedApp(this.names)}.db`;
    this.embedded = embed(taking?.scratch ?? store);
    taking?.take({
      client: this,
      store,
      app: recordedApp(this.names),
      codes: this.codes,
      moveTo: (store) => {
        this.isParked = false;
        this.embedded.abandon();
        this.embedded = embed(store);
      },
      servedBy: (server) => {
        this.isParked = false;
        this.embedded.abandon();
        this.reach(server);
      },
      checkEvents: (events) => this.checkEvents(events),
    });
    const engine = () => this.embedded.engine();
    this.reads = checkedReads({
      runs: runsApi(() => this.embedded.ready ?? this.embedded.engine()),
      events: eventsApi(engine),
      functions: functionsApi(engine),
      effects: effectsApi(engine),
      // Most programs never ask: their words are loaded by whoever does.
      explain: (async (asked: string) => (await import("./explain-api.ts")).explainer(engine)(asked)) as Explain,
      tell: async (asked) => (await import("./explain-api.ts")).teller(engine)(asked),
    });
    const server = serverOf(options);
    if (server !== null && !this.isTaken) this.reach(server);
  }

  get runs(): RunsApi {
    return this.reads.runs;
  }

  get events(): EventsApi {
    return this.reads.events;
  }

  get functions(): FunctionsApi {
    return this.reads.functions;
  }

  /** What `step.effect` did to systems outside, and who has to look at what. */
  get effects(): EffectsApi {
    return this.reads.effects;
  }

  /** The story of one event, run or key: what was decided, why, and what it spared. */
  get explain(): Explain {
    return this.reads.explain;
  }

  /**
   * Defines a durable function: what starts it, and what it does. `idempotency` names what it is about: one run for each value, however often the event comes.
   *
   * @example
   * idem.createFunction(
   *   { id: "draft-invoice", idempotency: "event.data.placementId" },
   *   { event: "placement/made" },
   *   async ({ event, step }) => step.run("create-draft", ({ key }) => createDraft(event.data, { idempotencyKey: key })),
   * );
   */
  createFunction<const Input extends TriggerInput<Schemas> | readonly TriggerInput<Schemas>[], Returned>(
    options: FunctionOptions<EventOf<Schemas, Input>, Schemas>,
    trigger: Input,
    handler: (context: HandlerContext<EventOf<Schemas, Input>, Schemas>) => Returned,
  ): IdemFunction<InvokedWith<EventOf<Schemas, Input>>, Jsonify<Awaited<Returned>>>;
  /** The same with its triggers among the options: `createFunction({ id, triggers: [{ event: "placement/made" }] }, handler)`. */
  createFunction<const Input extends TriggerInput<Schemas> | readonly TriggerInput<Schemas>[] = [], Returned = unknown>(
    options: FunctionOptions<EventOf<Schemas, Input>, Schemas> & { readonly triggers?: Input },
    handler: (context: HandlerContext<EventOf<Schemas, Input>, Schemas>) => Returned,
  ): IdemFunction<InvokedWith<EventOf<Schemas, Input>>, Jsonify<Awaited<Returned>>>;
  createFunction(given: unknown, second: unknown, third?: unknown): IdemFunction<never, never> {
    const options = given as FunctionOptions & { readonly triggers?: unknown };
    const threeArguments = typeof second !== "function";
    const triggers = (threeArguments ? second : options?.triggers) ?? [];
    const list = (Array.isArray(triggers) ? triggers : [triggers]) as readonly TriggerInput[];
    const handler = threeArguments ? third : second;
    const { middleware = [], events: schemas = {} } = this.options;
    const of = { middleware, schemas, warn: this.warn, appWas: this.names.was };
    const codes = defineFunction(this.id, options, list, handler, of);
    const app = recordedApp(this.names);
    const named = (code: FunctionCode) => ({ ...code, app });
    for (const code of codes) {
      const { id } = code.config;
      if (this.codes.some(({ config }) => config.id === id)) {
        throw errors.FUNCTION_INVALID({ function: id, why: "this client already has a function of that id" });
      }
      const shared = nameShared(named(code), this.codes.map(named));
      if (shared !== null) {
        const why = `"${shared.name}" is a name of function "${shared.other.config.id}" too`;
        throw errors.FUNCTION_WAS_CONFLICT({ function: id, why });
      }
    }
    this.codes.push(...codes);
    const slug = shownName(named(codes[0]!));
    makersOf(this)?.functions.set(slug, traceAbove(this.createFunction));
    return { id: options.id, slug, code: codes[0]! };
  }

  /**
   * Opens the store, registers the functions and begins to execute them. A PostgreSQL that is not ready yet is retried until `stop()`, which
   * resolves it too; an address, password or schema that is wrong is refused at once.
   */
  async start(): Promise<void> {
    if (this.remote !== null) throw errors.CLIENT_SERVED({ client: this.id, server: this.remote.origin });
    if (!this.isParked) await this.embedded.start();
  }

  /**
   * For hosts whose processes do not stay: does what is due (runs, timers, ticks, upkeep) for as long as `budget` says at the most,
   * gives back what it holds, and says when something is due next. Any number of sweeps may go on at once.
   *
   * ```ts
   * export const GET = vercelCron(idem, { budget: "20s" }); // idem/serverless
   * ```
   */
  async sweep(options?: SweepOptions): Promise<Swept> {
    refuseUnknown<SweepOptions>("sweep", options, { budget: true });
    if (this.remote !== null) throw errors.CLIENT_SERVED({ client: this.id, server: this.remote.origin });
    return this.embedded.sweep(readBudget(options?.budget));
  }

  /** Finishes the steps that run, hands everything else back, and closes the store. */
  async stop(options?: { readonly grace?: string | number }): Promise<void> {
    refuseUnknown<{ grace: unknown }>("stop", options, { grace: true });
    const graceMs = options?.grace === undefined ? limits.stopGraceMs : parseDuration(options.grace, "grace");
    await this.embedded.stop(graceMs);
  }

  /**
   * Inside a transaction of your own, in the engine's PostgreSQL: the events are sent exactly if it commits.
   *
   * ```ts
   * await client.query("insert into orders …");
   * await idem.send({ name: "order/placed", data: { orderId } }, { tx: client });
   * await client.query("commit");
   * ```
   */
  send<const Name extends EventName<Schemas>>(
    events: EventsGiven<Schemas, Name>,
    options: SendInTransaction,
  ): Promise<QueuedResult>;
  /**
   * Sends one event or many, all or none: once it resolves they are on disk, and `decisions` says for each function what became of them, and why.
   *
   * @example
   * const { decisions } = await idem.send({ name: "placement/made", id: "placement-7", data: { placementId: 7 } });
   * decisions[0].kind; // "started", or "duplicate-key": the run that answers for it is `decisions[0].runId`
   */
  send<const Name extends EventName<Schemas>>(
    events: EventsGiven<Schemas, Name>,
    options?: SendOptions,
  ): Promise<SendResult>;
  send(events: unknown, options?: SendOptions & Partial<SendInTransaction>): Promise<SendResult | QueuedResult> {
    return this.sendIn(undefined, events, options);
  }

  private async sendIn(
    idScope: EventIdScope | undefined,
    events: unknown,
    options?: SendOptions & Partial<SendInTransaction>,
    isShared?: boolean,
  ): Promise<SendResult | QueuedResult> {
    refuseUnknownSendOptions(options, this.warn);
    const windowMs = readWindow(options?.window, "window") ?? this.eventWindowMs;
    if (options?.waitUntil !== undefined && typeof options.waitUntil !== "function") {
      throw errors.OPTION_INVALID({ option: "waitUntil", why: "it must be a function that takes a promise" });
    }
    const list: readonly unknown[] = Array.isArray(events) ? events : [events];
    // Given, but undefined by mistake, it is refused: an event that was meant to wait for a commit must not go before it.
    const isQueued = options !== undefined && "tx" in options;
    if (this.remote !== null) {
      if (isQueued) throw errors.TRANSACTION_UNSUPPORTED({ call: "send(events, { tx })" });
      const isTold = options?.window !== undefined || this.options.eventWindow !== undefined;
      return sendToServer(this.remote, {
        events: list,
        middleware: this.options.middleware ?? [],
        check: (given) => this.checkEvents(given),
        now: this.platform.wallMs(),
        traceparent: activeTraceparent(this.platform),
        windowMs: isTold ? windowMs : null,
        idScope,
        isShared,
        nameOf: (fn) => this.nameOf(fn),
      });
    }
    const engine = this.embedded.ready ?? (await this.embedded.engine());
    if (isQueued) return { queued: await engine.queue(list, windowMs, this.options.middleware ?? [], options.tx!) };
    const accepted = await engine.accept(list, windowMs, this.options.middleware ?? [], { idScope });
    if (options?.waitUntil !== undefined && !this.isParked) {
      options.waitUntil(this.embedded.sweepFor(readBudget(), (error) => this.warn(String(error))));
    }
    return sendResultOf(accepted, nameIn(engine));
  }

  /** Wakes the run that waits for this signal; `runId` is null when nobody does. */
  async sendSignal(options: { readonly signal: string; readonly data?: unknown }): Promise<{ runId: string | null }> {
    refuseUnknown<{ signal: string; data: unknown }>("sendSignal", options, { signal: true, data: true });
    const signal = options?.signal;
    if (typeof signal !== "string" || signal === "") {
      throw errors.OPTION_INVALID({ option: "signal", why: "it must be the name of a signal" });
    }
    if (this.remote !== null) {
      return { runId: await this.remote.signal(signal, toJson(options.data ?? null, `Signal "${signal}"`)) };
    }
    const json = toJson({ signal, data: options.data ?? null }, `Signal "${signal}"`);
    const engine = await this.embedded.engine();
    return { runId: await engine.signal(signal, json) };
  }

  /**
   * Calls the listener with what happens in this process, each time after the commit that made it true; nothing is told again when code
   * is replayed. Returns how to stop listening. What a listener throws is logged and changes nothing.
   *
   * ```ts
   * idem.on("run.failed", ({ function: name, runId, error }) => pager.send(`${name} ${runId}: ${error.message}`));
   * ```
   */
  on<K extends TidingsKind>(kind: K, listener: Listener<K>): () => void {
    if (this.remote !== null) throw errors.CLIENT_SERVED({ client: this.id, server: this.remote.origin });
    return this.telling.on(kind, listener);
  }

  /** Resolves once nothing runs and nothing is being delivered; sleeping runs do not count. */
  async idle(): Promise<void> {
    await this.embedded.idle();
  }

  private serving(): ServedClient {
    if (this.remote === null && !this.isTaken && (this.options.store !== undefined || this.embedded.isOpen)) {
      throw errors.CLIENT_EMBEDDED({ client: this.id, why: "it has a store of its own and executes from it" });
    }
    if (this.isKeeping) {
      throw errors.CLIENT_EMBEDDED({ client: this.id, why: "it keeps idempotency keys in a store of its own" });
    }
    if (this.embedded.hasDashboard) {
      throw errors.CLIENT_EMBEDDED({ client: this.id, why: "it has a dashboard over a store of its own" });
    }
    return {
      id: this.id,
      was: this.names.was,
      server: this.remote ?? (this.isTaken ? this.serverAt(defaultServer) : this.reach(defaultServer)),
      // Functions may be defined after the handler was made.
      codes: () => this.codes,
      checkEvents: (events) => this.checkEvents(events),
      platform: this.platform,
      logs: this.telling,
    };
  }

  /**
   * What this process counts and what its queues hold, as Prometheus reads it (docs/observability.md has the list). Counting begins when it is first asked for;
   * from the opening of the store where a dashboard is mounted, which answers with the same at `/metrics`.
   */
  async metrics(): Promise<string> {
    if (this.remote !== null) throw errors.CLIENT_SERVED({ client: this.id, server: this.remote.origin });
    const metrics = await this.embedded.metrics();
    await this.embedded.engine();
    return metrics.text(null);
  }

  /** Whether this process can do its work now (its store takes operations, its worker is heard of), and if not, why. */
  async health(): Promise<Readiness> {
    if (this.remote !== null) throw errors.CLIENT_SERVED({ client: this.id, server: this.remote.origin });
    return this.embedded.readiness();
  }

  /**
   * The dashboard over this client's own store, as a Fetch handler to be mounted under a path.
   *
   * ```ts
   * const dashboard = idem.dashboard({ base: "/idem", authorize: (request) => (isAdmin(request) ? "operator" : null) });
   * app.all("/idem/*", (c) => dashboard(c.req.raw)); // Hono; for Express and Node: asListener of idem/node
   * ```
   */
  dashboard(options: DashboardOptions): DashboardHandler {
    if (this.remote !== null) throw errors.DASHBOARD_ELSEWHERE({ client: this.id, server: this.remote.origin });
    return openDashboard(() => this.embedded.mounted(), options);
  }

  private serverAt(server: string): RemoteServer {
    return new RemoteServer({ server, env: this.env, ...keysOf(this.options) }, this.platform);
  }

  private reach(server: string): RemoteServer {
    this.remote = this.serverAt(server);
    const slugOf = (name: string) => {
      const found = this.codes.find(({ config }) => config.id === name);
      return found === undefined ? name : this.shownName(found);
    };
    const names = { nameOf: (fn: string) => this.nameOf(fn), slugOf };
    this.reads = checkedReads(remoteReads(this.remote, names, this.platform));
    return this.remote;
  }

  /** A function of this client by its own id, another by its full name. */
  private nameOf(fn: string): string {
    return this.codes.find((code) => [...recordedNames(code), this.shownName(code)].includes(fn))?.config.id ?? fn;
  }

  private shownName(code: FunctionCode): string {
    return shownName({ ...code, app: recordedApp(this.names) });
  }

  private async checkEvents(events: readonly unknown[]): Promise<void> {
    const schemas = this.options.events;
    if (schemas === undefined) return;
    for (const [i, event] of events.entries()) {
      await checkSchema(schemas, event, placeOf(i, events.length));
    }
  }
}
