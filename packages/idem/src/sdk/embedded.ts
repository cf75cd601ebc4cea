// The engine inside a client's own process: opened when it is first needed, given every function before anything is sent, started,
// stopped, and opened again. A client whose store is at a server never opens it.
import type { Engine } from "../engine/engine.ts";
import { limits } from "../engine/limits.ts";
import type { Metrics } from "../engine/metrics.ts";
import type { CheckEvents } from "../engine/outgoing-events.ts";
import type { Readiness } from "../engine/readiness.ts";
import { StoreHealth } from "../engine/store-health.ts";
import { type Swept, sweep } from "../engine/sweep.ts";
import type { Telling } from "../engine/telling.ts";
import type { FunctionCode } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import { type AppNames, recordedApp } from "../model/function-names.ts";
import { observedStore } from "../observe/observed-store.ts";
import { type RelayedObserver, relayObserver } from "../observe/relay-observer.ts";
import { endingPlatform } from "../platform/ending-platform.ts";
import { cliName, processName } from "../platform/node-platform.ts";
import { packageVersion } from "../platform/package-files.ts";
import type { Platform } from "../platform/platform.ts";
import { waitAtMost } from "../platform/wait-at-most.ts";
import type { StoreTrouble } from "../store/sqlite/store-trouble.ts";
import type { Store } from "../store/store.ts";
import type { MountedClient } from "./open-dashboard.ts";
import { isNotReady, openStore } from "./open-store.ts";
import { Opening } from "./opening.ts";
import { type DeskClient, openDesk } from "./owner-desk.ts";
import { type OwnerSocket, openOwnerSocket } from "./owner-socket.ts";
import { secretsToTell } from "./sealed-store.ts";
import { loadRadar, startRadar } from "./start-radar.ts";
import type { DuplicateRadar } from "./watch-duplicates.ts";

export interface EmbeddedOptions {
  readonly names: AppNames;
  readonly env: string;
  /** An address, or a store somebody opened. */
  readonly store: string | Store;
  readonly platform: Platform;
  readonly telling: Telling;
  readonly runsInFlight: number;
  readonly bytesInFlight?: number | undefined;
  readonly keepsLogs: boolean;
  readonly eventWindowMs: number;
  readonly retentionMs: number | null;
  readonly blockedMaxMs: number;
  readonly storeTimeoutMs: number;
  readonly hasRadar: boolean;
  /** Its time is not the machine's: nothing may be loaded while it passes. */
  readonly isPlayed: boolean;
  readonly checkEvents: CheckEvents;
  /** Grows as functions are defined; also after the store was opened. */
  readonly codes: readonly FunctionCode[];
  /** The same app in an environment of this store, for the command line of this machine. */
  readonly clientIn: (env: string, store: Store) => DeskClient;
}

let loaded: typeof import("../engine/engine.ts") | null = null;

/** Asked of the loader once: where somebody hooks into it an answer takes real time, also for what is loaded, and in a world none passes for it. */
export async function loadEngine(): Promise<typeof import("../engine/engine.ts")> {
  loaded ??= await import("../engine/engine.ts");
  return loaded;
}

export class Embedded {
  private readonly options: EmbeddedOptions;
  private opening: Opening<Engine> | null = null;
  private opened: Engine | null = null;
  private socket: OwnerSocket | null = null;
  private registered = 0;
  private registering: Promise<void> | null = null;
  private started = false;
  /** An engine over the store that is open, for one sweep. */
  private sweeper: (() => { readonly engine: Engine; readonly platform: Platform }) | null = null;
  private sweeping: Promise<Swept> | null = null;
  private sweepingNext: Promise<Swept> | null = null;
  private radar: DuplicateRadar | null = null;
  private stopping: Promise<void> | null = null;
  private closing: Promise<void> | null = null;
  /** The observers of its commits. */
  private readonly watching = new Set<RelayedObserver>();
  private isMounted = false;
  private counting: Promise<Metrics> | null = null;
  /** The engine that is open, by its environment. */
  private readonly engines = new Map<string, Engine>();
  private readonly health: StoreHealth;
  private wasStopped = false;
  /** How often it was stopped: a start that waits for its store ends with the next. */
  private stopCount = 0;
  /** Whatever the engine that is open still waits for. */
  private endTimers = () => {};
  private readonly stops = new Set<() => Promise<void>>();

  constructor(options: EmbeddedOptions) {
    this.options = options;
    this.health = new StoreHealth({ ...options, store: async () => (await this.engine()).store });
  }

  get isOpen(): boolean {
    return this.opening !== null;
  }

  get hasDashboard(): boolean {
    return this.isMounted;
  }

  /** The engine, where nothing has to be waited for; null otherwise. */
  get ready(): Engine | null {
    const isKnown = this.registered === this.options.codes.length && this.registering === null;
    return isKnown && this.closing === null ? this.opened : null;
  }

  /** `waitMs`: for a store that is not ready yet. */
  async engine(waitMs: number = this.options.storeTimeoutMs): Promise<Engine> {
    if (this.closing !== null) await this.closing;
    this.opening ??= this.makeOpening();
    const { opening } = this;
    const engine = this.opened ?? (await opening.wait(waitMs));
    if (this.opening === opening) this.opened = engine;
    // Functions may be defined after the store was opened; nothing is sent before all of them are known.
    while (this.registered < this.options.codes.length || this.registering !== null) {
      this.registering ??= this.register(engine).finally(() => {
        this.registering = null;
      });
      await this.registering;
    }
    return engine;
  }

  private makeOpening(): Opening<Engine> {
    const { platform, telling } = this.options;
    const opening: Opening<Engine> = new Opening({
      platform,
      telling,
      open: (signal) => this.open(signal),
      isNotReady: (error) => this.isNotReady(error),
      onClosed: () => {
        if (this.opening === opening) this.opening = null;
      },
    });
    return opening;
  }

  private isNotReady(error: unknown): boolean {
    const { store } = this.options;
    return typeof store === "string" && isNotReady(store, error);
  }

  /** Retries until the store is ready. Stopped meanwhile, it resolves and has started nothing. */
  async start(): Promise<void> {
    if (this.sweeping !== null) await this.sweeping.catch(() => {});
    const { platform, telling, hasRadar, isPlayed } = this.options;
    const { stopCount } = this;
    const loading = hasRadar && isPlayed ? loadRadar() : null;
    let engine: Engine | null = null;
    while (engine === null) {
      try {
        engine = await this.engine(Number.POSITIVE_INFINITY);
      } catch (error) {
        if (this.stopCount !== stopCount) return;
        if (this.opened === null || !this.isNotReady(error)) throw error;
        // The store was opened before, and is away while functions are registered that were defined since.
        this.health.report("registering functions", error);
        await new Promise<void>((resolve) => platform.timer(limits.brokenDelayMs, resolve));
        if (this.stopCount !== stopCount) return;
      }
    }
    await loading;
    if (this.started) return;
    this.started = true;
    await engine.start();
    // Only a process that executes looks for duplicates.
    if (hasRadar) this.radar = startRadar({ engine, platform, logger: telling.logger });
  }

  /** Asked for twice at once it is one sweep, and both hear what became of it. */
  async sweep(budgetMs: number): Promise<Swept> {
    if (this.started) throw errors.CLIENT_STARTED({ client: this.options.names.id });
    this.sweeping ??= this.sweepOnce(budgetMs).finally(() => {
      this.sweeping = null;
    });
    return this.sweeping;
  }

  /** A sweep that began after this was asked for, unless the client is started: whatever was stored before is done by it. */
  async sweepFor(budgetMs: number, report: (error: unknown) => void): Promise<void> {
    if (this.started) return;
    // One that is under way may have looked for the last time already.
    this.sweepingNext ??= (this.sweeping ?? Promise.resolve())
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        this.sweepingNext = null;
        return this.sweep(budgetMs);
      });
    await this.sweepingNext.then(() => {}, report);
  }

  private async sweepOnce(budgetMs: number): Promise<Swept> {
    const { worker } = await this.engine(Math.min(budgetMs, this.options.storeTimeoutMs));
    const { engine, platform } = this.sweeper!();
    await engine.learn(this.options.codes);
    // A run that this client cancels must not begin in the sweep, even when it is on its way there.
    worker.sweeping = engine.worker;
    try {
      return await sweep(engine, platform, { budgetMs, graceMs: Math.min(limits.stopGraceMs, budgetMs / 4) });
    } finally {
      worker.sweeping = null;
    }
  }

  async stop(graceMs: number): Promise<void> {
    const { opening } = this;
    if (opening === null) return this.closing ?? undefined;
    this.stopCount++;
    // Nothing waits any longer for a store that is not ready.
    const stopped = this.opened === null ? opening.stop() : opening.end;
    if (this.sweeping !== null) await this.sweeping.catch(() => {});
    this.stopping ??= this.close(stopped, graceMs).finally(() => {
      this.stopping = null;
    });
    await this.stopping;
  }

  /** Left as a killed process leaves it: nothing it waits for comes, and the store stays open. */
  abandon(): void {
    this.endTimers();
  }

  async idle(): Promise<void> {
    if (this.opening === null) return;
    if (this.sweeping !== null) await this.sweeping.catch(() => {});
    await (await this.opening.end)?.idle();
  }

  /** For the dashboard beside it. */
  mounted(): MountedClient {
    const {
      names: { id },
      env,
      platform,
      telling,
      store,
    } = this.options;
    this.isMounted = true;
    if (this.opening !== null) void this.metrics();
    const { watching } = this;
    return {
      id,
      env,
      platform,
      logger: telling.logger,
      store: typeof store === "string" ? store : "a store given to the client",
      engine: async () => {
        // A page that is still open must not open the store again after the client was stopped.
        if (this.stopping !== null || (this.wasStopped && this.opening === null)) {
          throw errors.SERVER_BUSY({ why: `client "${id}" is stopped` });
        }
        return this.engine();
      },
      metrics: () => this.metrics(),
      health: () => this.readiness(),
      watch: (observer) => {
        watching.add(observer);
        return () => watching.delete(observer);
      },
      onStop: (stop) => void this.stops.add(stop),
    };
  }

  private async close(stopped: Promise<Engine | null>, graceMs: number): Promise<void> {
    const engine = await stopped;
    this.wasStopped = true;
    if (engine === null) return;
    const winding = this.windDown(engine, graceMs);
    // A store that is gone answers none of them: then it is closed under them.
    const isDown = await waitAtMost(this.options.platform, graceMs + limits.handOverMs, winding);
    try {
      if (isDown) await winding;
    } finally {
      this.opening = null;
      this.opened = null;
      this.started = false;
      this.registered = 0;
      this.engines.clear();
      this.health.stop();
      void this.stopCounting();
      this.closing = engine.store.close().finally(() => {
        this.closing = null;
        this.endTimers();
      });
      await this.closing;
    }
  }

  private async windDown(engine: Engine, graceMs: number): Promise<void> {
    await Promise.all([...this.stops].map((stop) => stop()));
    const { socket, radar } = this;
    this.socket = null;
    this.radar = null;
    // The store stays open meanwhile: a step that is being finished may send.
    await Promise.all([socket?.close(), radar?.stop(), engine.stop(graceMs)]);
  }

  private async register(engine: Engine): Promise<void> {
    const codes = [...this.options.codes];
    await engine.register(codes);
    this.registered = codes.length;
  }

  private async open(signal: AbortSignal): Promise<Engine> {
    const { store: address, telling, storeTimeoutMs: retryMs } = this.options;
    const { platform, end } = endingPlatform(this.options.platform);
    this.endTimers = end;
    const opening =
      typeof address === "string"
        ? openStore(address, platform, {
            signal,
            retryMs,
            onRetrying: (why, forMs) => this.health.retrying(why, forMs),
            onTrouble: (trouble) => this.tellTrouble(trouble),
            onCommit: (calls) => this.committed(calls),
          })
        : { store: address, leaseTermMs: limits.leaseTermSharedMs, file: null };
    // The engine is loaded while the store's thread starts, which takes longer.
    const [{ store: opened, leaseTermMs, file }, { Engine }] = await Promise.all([opening, loadEngine()]);
    this.wasStopped = false;
    this.health.start();
    const { watching } = this;
    const store = observedStore(opened, relayObserver(watching), () => watching.size > 0);
    // Before the first is committed.
    if (this.isMounted || this.options.platform.openTelemetry?.()?.metrics !== undefined) await this.metrics();
    const { names, env, runsInFlight, bytesInFlight, eventWindowMs, checkEvents, retentionMs, blockedMaxMs } =
      this.options;
    const made = {
      store,
      platform,
      env,
      app: recordedApp(names),
      formerApps: names.was ?? [],
      telling,
      runsInFlight,
      bytesInFlight,
      keepsLogs: this.options.keepsLogs,
      leaseTermMs,
      eventWindowMs,
      checkEvents,
      retentionMs,
      blockedMaxMs,
      health: this.health,
      about: { node: processName(), version: packageVersion(), role: "all" } as const,
    };
    const engine = new Engine(made);
    this.sweeper = () => ({ engine: new Engine({ ...made, stays: false }), platform });
    try {
      await this.register(engine);
      for (const line of [...(store.shared?.toTell ?? []), ...(await secretsToTell(opened.reads))])
        telling.logger.warn(line);
      store.shared?.history?.subscribe((report) => {
        if (report.kind === "notice") telling.logger[report.level](report.text);
      });
    } catch (error) {
      // A file left open would keep its owner's lock, and the next try would be refused for it.
      await store.close();
      throw error;
    }
    if (file !== null) this.socket = await this.openSocket(file, store);
    this.engines.set(env, engine);
    return engine;
  }

  /** Counted from here on; where there is a dashboard or a meter, from the opening of the store. */
  metrics(): Promise<Metrics> {
    this.counting ??= import("../engine/metrics.ts").then(({ Metrics }) => {
      const metrics = new Metrics(this.options.platform, () => this.engines);
      this.watching.add(metrics.observer);
      this.committed = (calls) => metrics.committed(calls);
      return metrics;
    });
    return this.counting;
  }

  private committed: (calls: number) => void = () => {};

  private async stopCounting(): Promise<void> {
    const { counting } = this;
    this.counting = null;
    this.committed = () => {};
    const metrics = await counting;
    if (metrics === undefined || metrics === null) return;
    this.watching.delete(metrics.observer);
    metrics.close();
  }

  /** Whether it can do its work now. A client that is stopped is not opened by the question. */
  async readiness(): Promise<Readiness> {
    const { readinessOf, readyOr } = await import("../engine/readiness.ts");
    if (this.stopping !== null || (this.wasStopped && this.opening === null)) {
      return readyOr([{ part: "client", why: "the client is stopped" }]);
    }
    const engine = this.engines.get(this.options.env) ?? null;
    return readinessOf(engine ?? { worker: { isRunning: false, isBeating: false } }, this.health);
  }

  private tellTrouble({ kind, level, text }: StoreTrouble): void {
    const { telling, env } = this.options;
    if (kind === "locked" || kind === "full" || kind === "failing")
      telling.tell({ kind: "store.troubled", env, reason: text });
    else telling.logger[level](`idem: ${text}`);
  }

  /** Lets the command line of this machine write to the file, which only this process may do. */
  private async openSocket(file: string, store: Store): Promise<OwnerSocket | null> {
    const { platform, telling } = this.options;
    if (platform.local === undefined) return null;
    const clientIn = (env: string) => this.options.clientIn(env, store);
    try {
      const desk = openDesk({ store, owner: processName(), actor: cliName(), clientIn });
      return await openOwnerSocket(platform.local, file, desk, platform);
    } catch (error) {
      // Runs do not depend on it; commands that write will say that this process cannot be reached.
      const why = error instanceof Error ? error.message : String(error);
      telling.logger.warn(`idem: the local socket of ${file} did not open: ${why}`);
      return null;
    }
  }
}
