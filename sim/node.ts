// A node: a machine on which one process of the app lives at a time, is killed, freezes, is stopped and started again.
import type { EngineUnderTest, Idem } from "./engine.ts";
import { faultyStore, type StoreLink } from "./faulty-store.ts";
import { SimPlatform, SimProcess } from "./platform.ts";
import { postgresStore } from "./postgres/store.ts";
import { epochMs } from "./store-clock.ts";
import { Kit } from "./workloads/kit.ts";
import type { World } from "./world.ts";

export interface Life {
  readonly process: SimProcess;
  readonly idem: Idem;
}

// A supervisor that starts a process again takes a moment for it.
const restartMs = 500;
const blockedPastChaosMs = 30_000;
const leaseTermMs = 20_000;

// Errors that a part that tries again would keep from everybody: not the store that failed, but its own code.
const isStumble = /is not a function|is not defined|is not iterable|Cannot (read|set) propert|is not a constructor/;

/** Kills come as often as the seed says, and no run is left to a person for it. */
const tireless = (idem: Idem): Idem =>
  new Proxy(idem, {
    get: (target, name) => {
      const value = Reflect.get(target, name) as unknown;
      if (name !== "createFunction") return typeof value === "function" ? value.bind(target) : value;
      return (options: object, ...rest: never[]) =>
        (value as (...args: unknown[]) => unknown).call(target, { entries: { max: 1_000 }, ...options }, ...rest);
    },
  });

export class SimNode {
  life: Life | null = null;
  /** How far its wall clock is off. */
  wallOffsetMs: number;
  version: number;
  private lives = 0;
  private isStopping = false;

  constructor(
    private readonly world: World,
    private readonly engine: EngineUnderTest,
    readonly index: number,
    version: number,
  ) {
    this.version = version;
    this.wallOffsetMs = world.plan.postgres?.nodeClocksOffMs[index - 1] ?? 0;
  }

  get isUp(): boolean {
    return this.life?.process.alive === true;
  }

  /** Its rest between two sweeps; null if its process stays. */
  private get restMs(): number | null {
    return this.world.plan.postgres?.sweepEveryMs[this.index - 1] ?? null;
  }

  start(): void {
    if (this.isUp) return;
    const { world, engine } = this;
    const { loop, counters, plan } = world;
    const name = `n${this.index}.${++this.lives}`;
    const process = new SimProcess(name, loop.now);
    const random = world.random.fork(name);
    const platformOf = (owner: SimProcess, stream: string) =>
      new SimPlatform({
        loop,
        process: owner,
        random: random.fork(stream),
        counters,
        wallMs: () => Math.floor(epochMs + loop.now + this.wallOffsetMs),
        crashRate: () => world.faults.rates["crash-point"],
        crash: (where) => this.crash(`crashes at ${where}`),
      });
    const platform = platformOf(process, "platform");
    const threadPlatform = (thread: SimProcess) => platformOf(thread, "thread");
    const say = (what: string) => world.trace.add(loop.now, name, what);
    const link: StoreLink = {
      store: world.store,
      loop,
      process,
      random: random.fork("store"),
      counters,
      faults: () => world.faults,
      unavailable: (why) => new engine.IdemError("STORE_UNAVAILABLE", { why }),
      refusal: () => world.refusal,
      onApplied: (call, input, answer) => world.onApplied(process, call, input, answer),
    };
    const { server } = world;
    const store =
      server === null
        ? faultyStore(link)
        : postgresStore({ ...link, ...plan.postgres!, server, engine, platform, threadPlatform, trace: say });
    const notice = (...said: unknown[]) => {
      const line = said.flatMap((each) => (typeof each === "object" ? Object.values(each ?? {}) : each)).join(" ");
      if (isStumble.test(line)) world.ledger.stumbles.push(line);
      return line;
    };
    const idem = new engine.Idem({
      id: "sim",
      env: world.env,
      store,
      platform,
      eventWindow: plan.eventWindowMs,
      runsInFlight: plan.runsInFlight,
      ...(plan.postgres === null ? {} : { blockedMax: plan.postgres.blockedMaxMs }),
      logger: { debug() {}, info() {}, warn: notice, error: (...said: unknown[]) => say(`logs ${notice(...said)}`) },
    });
    const blocking = random.fork("first step");
    const kit = new Kit({
      loop,
      ledger: world.ledger,
      process,
      random: random.fork("work"),
      storeNow: () => world.clock.now(),
      trace: say,
      endProcess: (why) => this.crash(why),
      onFirstStep: () => {
        if (!blocking.chance(world.faults.rates["blocked-start"])) return;
        counters.add("fault blocked-start");
        this.block(blocking.between(leaseTermMs + 1_000, 60_000));
      },
    });
    for (const workload of plan.workloads) workload.define(tireless(idem), kit, this.version);
    this.life = { process, idem };
    this.isStopping = false;
    say(`starts as version ${this.version}`);
    if (this.restMs !== null) {
      this.sweepOn({ process, idem }, this.restMs);
      return;
    }
    idem.start().catch((error: unknown) => {
      // A process that cannot start ends, and its supervisor starts it again.
      if (process.alive) this.crash(`cannot start: ${String(error)}`);
    });
  }

  /** A host that calls it now and then, whatever became of the last call. */
  private sweepOn({ process, idem }: Life, restMs: number): void {
    const { world } = this;
    const again = () => world.loop.schedule(restMs, () => this.sweepOn({ process, idem }, restMs));
    if (!process.alive || this.isStopping) return;
    const budget = 5_000;
    world.counters.add("sweeps");
    idem.sweep({ budget }).then(
      ({ isCut, entered }) => {
        if (isCut) world.counters.add("sweeps that were cut");
        if (entered > 0) world.counters.add("sweeps that did something");
        again();
      },
      () => {
        world.counters.add("sweeps that failed");
        again();
      },
    );
  }

  /** Silence from here on; a supervisor starts the next life. */
  crash(why: string): void {
    const { world, life } = this;
    if (life === null || !life.process.alive) return;
    life.process.alive = false;
    world.ledger.lostProcesses.push({ at: world.loop.now, process: life.process.name });
    world.trace.add(world.loop.now, life.process.name, why);
    world.loop.schedule(world.downMs(), () => this.start());
  }

  freeze(ms: number): void {
    const { world, life } = this;
    if (life === null || !life.process.alive) return;
    const { now } = world.loop;
    life.process.stoppedUntil = Math.max(life.process.stoppedUntil, Math.min(now + ms, world.plan.chaosMs));
    world.ledger.freezes.push({ process: life.process.name, from: now, to: life.process.frozenUntil });
    world.trace.add(world.loop.now, life.process.name, `freezes for ${Math.round(ms)} ms`);
  }

  /** Its code keeps the event loop busy; what has a thread of its own goes on. */
  block(ms: number): void {
    const { world, life } = this;
    if (life === null || !life.process.alive) return;
    const { process } = life;
    const { now } = world.loop;
    // Past the chaos, so that a lease may end meanwhile, and not so long that nothing could come to rest.
    process.blockedUntil = Math.max(process.blockedUntil, Math.min(now + ms, world.plan.chaosMs + blockedPastChaosMs));
    world.ledger.freezes.push({ process: process.name, from: now, to: process.frozenUntil });
    if (this.restMs === null) world.ledger.blocks.push({ process: process.name, from: now, to: process.blockedUntil });
    world.trace.add(now, process.name, `its loop stands still for ${Math.round(ms)} ms`);
    if (process.blockedUntil - now < leaseTermMs) return;
    const stopped = process.stoppedUntil;
    world.loop.schedule(process.blockedUntil - now, () => {
      if (!process.alive || process.stoppedUntil > stopped) return;
      world.counters.add(`loops past a lease that ${world.isLeaseKept(process.name, now) ? "kept" : "lost"} it`);
    });
  }

  /** A rolling restart: the process is asked to stop, and the next one starts when it has. */
  restart(version: number): void {
    const { world, life } = this;
    this.version = version;
    if (life === null || !life.process.alive) return;
    const { process, idem } = life;
    world.trace.add(world.loop.now, process.name, "is asked to stop");
    this.isStopping = true;
    const ended = () => this.crash("stopped");
    idem.stop({ grace: 2_000 }).then(ended, ended);
    // A process that does not stop is killed, as every supervisor does in the end.
    world.loop.schedule(20_000, () => {
      if (process.alive) this.crash("is killed, having not stopped");
    });
  }

  static readonly restartMs = restartMs;
}
