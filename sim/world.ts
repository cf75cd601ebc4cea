// One world from one seed: 1 to 5 nodes over one store, chaos, then healing, then everything must come to rest in time.
import { instants, onTheirWayMs } from "./checks/crons.ts";
import { StoreHours } from "./checks/store-hours.ts";
import { Clients } from "./clients.ts";
import { Counters } from "./counters.ts";
import { CronRows } from "./cron-rows.ts";
import { type Dump, dumpStore } from "./dump.ts";
import type { EngineUnderTest, HeartbeatAnswer, Store } from "./engine.ts";
import { EventLoop } from "./event-loop.ts";
import { type FaultName, type Faults, faultNames } from "./faults.ts";
import type { StoreLink } from "./faulty-store.ts";
import { LeaseBook } from "./lease-book.ts";
import { type Ledger, newLedger } from "./ledger.ts";
import { SimNode } from "./node.ts";
import { drawPlan, type Plan, startGapMs, type WorldOptions } from "./plan.ts";
import type { SimProcess } from "./platform.ts";
import { PostgresServer } from "./postgres/server.ts";
import { Random } from "./random.ts";
import { describeCall, storedBy } from "./store-calls.ts";
import { SimStoreClock } from "./store-clock.ts";
import { Trace } from "./trace.ts";

/** After the faults stop: a lost worker's lease (20 s), its rescue (5 s), and the longest chain of sleeps and retries. */
const restMaxMs = 120_000;

// Longer than any run of a workload takes once it has its slot.
const stillMs = 30_000;
const closingMs = 8_000;
const closingCount = 15;

const healthy: Faults = {
  rates: Object.fromEntries(faultNames.map((name) => [name, 0])) as Record<FaultName, number>,
  delayMaxMs: 0,
  freezeMaxMs: 0,
  refusalMaxMs: 0,
  lockWaitMaxMs: 0,
  interactiveShare: 0,
};

export class World {
  readonly env = "sim";
  readonly random: Random;
  readonly plan: Plan;
  readonly counters = new Counters();
  readonly trace: Trace;
  readonly loop: EventLoop;
  readonly clock: SimStoreClock;
  readonly store: Store;
  /** The server between the nodes and the store; null where they have it to themselves. */
  readonly server: PostgresServer | null;
  readonly ledger: Ledger;
  private readonly book: LeaseBook;
  private readonly crons: CronRows;
  readonly nodes: SimNode[];
  faults: Faults;
  private isHealed = false;
  /** When the store last heard of each worker, by process. */
  private readonly leases = new Map<string, { process: string; beatAt: number; termMs: number }>();
  private readonly hours: StoreHours;

  private refusing: ReturnType<StoreLink["refusal"]> = null;

  constructor(
    private readonly engine: EngineUnderTest,
    options: WorldOptions,
  ) {
    this.random = new Random(options.seed);
    this.plan = drawPlan(options);
    this.trace = new Trace(options.traceLines ?? 0);
    this.loop = new EventLoop(this.random.fork("loop"));
    this.clock = new SimStoreClock(() => this.loop.now);
    this.store =
      this.plan.store === "memory"
        ? new engine.MemoryStore(this.clock)
        : engine.openInlineStore({
            path: ":memory:",
            migrations: engine.migrations,
            clock: this.clock,
            owner: "sim",
            newestClaimsMax: 8,
          });
    this.clock.opened();
    const { loop, counters } = this;
    const chance = this.random.fork("server");
    this.server =
      this.plan.postgres === null
        ? null
        : new PostgresServer({ loop, counters, random: chance, faults: () => this.faults });
    this.book = new LeaseBook(() => this.loop.now);
    this.crons = new CronRows(() => this.clock.now());
    this.ledger = newLedger({
      storeClockDrifts: this.clock.drifts,
      storeClockShown: this.clock.shown,
      leases: this.book.leases,
      crons: this.crons.rows,
    });
    this.hours = new StoreHours(this.clock.drifts);
    this.faults = this.plan.faults;
    // With deployments some nodes begin with an older version of the app.
    const old = this.faults.rates.deploy > 0;
    const versions = this.random.fork("versions");
    this.nodes = Array.from(
      { length: this.plan.nodes },
      (_, i) => new SimNode(this, engine, i + 1, old && versions.chance(0.7) ? 1 : 2),
    );
  }

  /** Lives through chaos and healing; what came of it is in the ledger and the dump. */
  async live(): Promise<{ readonly restedAfterMs: number | null; readonly dump: Dump }> {
    const { loop, plan } = this;
    const clients = new Clients(this, this.random.fork("clients"));
    this.populate(clients);
    this.pauseNowAndThen(clients);
    for (const [i, node] of this.nodes.entries()) loop.schedule(i * startGapMs, () => node.start());
    this.scheduleChaos();
    loop.schedule(plan.chaosMs, () => this.heal());
    await loop.runUntil(() => loop.now > plan.chaosMs);
    const healedAt = loop.now;
    // A single slot works off what piled up one after the other.
    const inTurn = plan.runsInFlight * this.nodes.length === 1 ? 3 : 1;
    const restMs = restMaxMs * inTurn + Math.max(0, ...plan.workloads.map((workload) => workload.restMs ?? 0));
    const allowedMs = restMs + Math.min(this.clock.behindMs, restMs);
    let deadline = healedAt + allowedMs;
    let openBefore = Number.POSITIVE_INFINITY;
    let rested = false;
    const look = async () => {
      const { queued, running, waiting } = await this.store.reads.counts(this.env);
      const openRuns = queued + running + waiting;
      // Runs piled up behind a limit of one may take longer than that, as long as they become fewer; and so may one that a client asked for lately.
      // Compared with the look before: a process whose loop was blocked past the healing sends what it was asked to send only then.
      const movedAt = openRuns < openBefore ? loop.now : clients.askedAt;
      deadline = Math.max(deadline, Math.min(movedAt + stillMs, healedAt + allowedMs * 4));
      openBefore = openRuns;
      const isIdle = clients.open === 0 && openRuns === 0;
      rested = isIdle && !(await this.hasPending()) && !(await this.hasTicksDue());
      if (!rested) loop.schedule(1_000, () => void look());
    };
    loop.schedule(2_000, () => void look());
    const closing = plan.workloads.flatMap((workload) => workload.closing ?? []);
    for (let n = 1; n <= closingCount; n++) {
      for (const messages of closing) loop.schedule(n * closingMs, () => void clients.send(messages(-n)));
    }
    for (const fn of this.pausedFunctions()) void clients.release(fn);
    await loop.runUntil(() => rested || loop.now > deadline);
    const restedAfterMs = rested ? loop.now - healedAt : null;
    const dump = await dumpStore(this.store, this.env);
    for (const node of this.nodes) if (node.life !== null) node.life.process.alive = false;
    await this.store.close();
    return { restedAfterMs, dump };
  }

  /** The time a crashed node stays away. */
  downMs(): number {
    return this.isHealed ? SimNode.restartMs : this.random.between(SimNode.restartMs, 12_000);
  }

  /** Follows from outside who holds a lease, so that the oracle knows when a repeat was allowed. */
  onApplied(process: SimProcess, name: string, input: readonly unknown[], answer: unknown): void {
    const { counters } = this;
    const lose = (who: string) => this.ledger.lostLeases.push({ at: this.loop.now, process: who });
    if (name === "heartbeat") {
      const [worker, termMs] = input as [string, number];
      const { alive } = answer as HeartbeatAnswer;
      if (!alive || this.mayBeLost(worker)) lose(process.name);
      if (alive) this.leases.set(worker, { process: process.name, beatAt: this.loop.now, termMs });
      if (alive) this.book.enlist(worker);
      else this.book.spend(worker, true);
      if (!alive) counters.add("workers told they were lost");
    } else if (name === "cancel" && (answer as { kind: string }).kind === "cancelled") {
      this.ledger.cancelled.set((input[0] as { runId: string }).runId, this.loop.now);
    } else if (name === "handBack") {
      if (this.leases.delete(input[0] as string)) lose(process.name);
    } else if (name === "sweep") {
      for (const [worker, { process: holder }] of this.leases) {
        if (!this.mayBeLost(worker)) continue;
        lose(holder);
        this.book.spend(worker, true);
        this.leases.delete(worker);
      }
      counters.add("rescued jobs", (answer as { rescued: number }).rescued);
      if ((answer as { repaired: number }).repaired > 0) counters.add("repaired runs");
    } else if (name === "advance" || name === "resume") {
      const { kind } = answer as { kind: string };
      if (kind === "fenced") counters.add(`fenced ${name}`);
      if (kind === "ended") counters.add("commits after the end");
      if (kind === "stale-registration") counters.add("stale registrations");
    } else if (name === "ingest" || name === "tick") {
      const { kind, decisions } = answer as { kind: string; decisions?: readonly { kind: string }[] };
      if (kind === "stale-registration") counters.add("stale registrations");
      for (const decision of decisions ?? []) counters.add(`decided ${decision.kind}`);
    }
    this.follow(process, name, input, answer);
    for (const { id } of storedBy(answer)) {
      if (this.ledger.stored.has(id)) continue;
      this.ledger.stored.set(id, this.loop.now);
      this.ledger.storedBy.set(id, process.name);
    }
    this.trace.add(this.loop.now, process.name, describeCall(name, input, answer));
  }

  /** Notes for the oracle what it must know about limits, buffers and schedules. */
  private follow(process: SimProcess, name: string, input: readonly unknown[], answer: unknown): void {
    const { ledger, counters } = this;
    this.book.applied(process.name, name, input, answer);
    if (name === "register" && (answer as { kind: string }).kind === "registered") {
      this.crons.registered(input[0] as Parameters<CronRows["registered"]>[0]);
    } else if (name === "lease") {
      const { now } = answer as { now: number };
      const processes = ledger.leasedAt.get(now);
      if (processes === undefined) ledger.leasedAt.set(now, new Set([process.name]));
      else processes.add(process.name);
    } else if (name === "redecide") {
      const { eventId, pair } = input[0] as { eventId: string; pair: { fn: string } };
      if ((answer as { kind: string }).kind !== "ingested") return;
      ledger.redecided.add(`${eventId} ${pair.fn}`);
      counters.add("decisions by a person");
    } else if (name === "tick") {
      const { kind, fired } = answer as { kind: string; fired: readonly number[] };
      const { ticks } = input[0] as { ticks: readonly unknown[] };
      if (kind === "stale-registration") counters.add("ticks of a stale registration");
      else if (fired.length < ticks.length)
        counters.add("ticks that were decided already", ticks.length - fired.length);
    }
  }

  private async hasPending(): Promise<boolean> {
    const pending = { isPending: true, limit: 1, examinedMax: 1_000_000 } as const;
    return (await this.store.reads.decisionPage(this.env, pending)).rows.length > 0;
  }

  /** A node whose store was away looks at its schedules again later than it asks for work. */
  private async hasTicksDue(): Promise<boolean> {
    const schedules = this.plan.workloads.flatMap(({ functions }) => functions.flatMap(({ crons = [] }) => crons));
    if (schedules.length === 0) return false;
    const until = this.clock.now() - onTheirWayMs;
    return (await this.store.reads.crons(this.env)).some(({ cron, lastTickAt }) => {
      const schedule = schedules.find((other) => other.cron === cron);
      return schedule !== undefined && !instants(schedule, lastTickAt, until).next().done;
    });
  }

  /** Events that wait for a person because something is missing in them. */
  async heldFor(fn: string): Promise<readonly string[]> {
    const held = { fn, kinds: ["held"], isPending: true, limit: 100, examinedMax: 1_000_000 } as const;
    return (await this.store.reads.decisionPage(this.env, held)).rows.map(({ eventId }) => eventId);
  }

  /** Functions that people pause now and then, or that hold events for them. */
  private pausedFunctions(): readonly string[] {
    return this.plan.workloads.flatMap(({ functions }) =>
      functions.filter(({ isPaused }) => isPaused === true).map(({ id }) => `sim-${id}`),
    );
  }

  private pauseNowAndThen(clients: Clients): void {
    const random = this.random.fork("pauses");
    for (const fn of this.pausedFunctions()) {
      if (random.chance(0.6)) continue;
      const lastsMs = random.between(500, 12_000);
      this.loop.schedule(random.between(0, this.plan.chaosMs * 0.8), () => void clients.pause(fn, lastsMs));
    }
  }

  /** Whether no lease of the process may have ended since then. */
  isLeaseKept(process: string, since: number): boolean {
    return !this.ledger.lostLeases.some((lost) => lost.process === process && lost.at >= since);
  }

  /** Whether the store may have declared this worker lost by now. */
  private mayBeLost(worker: string): boolean {
    const lease = this.leases.get(worker);
    return lease !== undefined && !this.hours.isSurelyOpen(lease.beatAt, this.loop.now, lease.termMs);
  }

  private populate(clients: Clients): void {
    const random = this.random.fork("messages");
    for (let n = 0; n < this.plan.conversations; n++) {
      const workload = random.pick(this.plan.workloads);
      const messages = workload.messages(random, n);
      const again = random.chance(0.35) ? random.int(1, 3) : 0;
      this.loop.schedule(
        random.between(0, this.plan.talkMs ?? this.plan.chaosMs),
        () => void clients.converse(messages, again),
      );
    }
  }

  private scheduleChaos(): void {
    const { loop, plan } = this;
    const { rates, freezeMaxMs } = plan.faults;
    const random = this.random.fork("chaos");
    /** Strikes now and then until the chaos is over. */
    const often = (fault: FaultName, strike: (node: SimNode) => void, times = this.nodes.length) => {
      const own = random.fork(fault);
      const perMs = (rates[fault] * times) / 60_000;
      if (perMs === 0) return;
      for (let at = own.next() / perMs; at < plan.chaosMs; at += own.between(0.2, 1.8) / perMs) {
        const node = own.pick(this.nodes);
        loop.schedule(at, () => {
          this.counters.add(`fault ${fault}`);
          strike(node);
        });
      }
    };
    const amount = random.fork("amounts");
    often("kill", (node) => node.crash("is killed"));
    often("freeze", (node) => node.freeze(amount.between(100, freezeMaxMs)));
    often("blocked-loop", (node) => node.block(amount.between(1_000, 60_000)));
    often("restart", (node) => node.restart(node.version));
    often("deploy", (node) => node.restart(amount.int(1, 2)));
    often("node-clock", (node) => {
      node.wallOffsetMs = amount.chance(0.5) ? amount.between(-3_600_000, 3_600_000) : amount.between(-9e7, 9e7);
    });
    const refusals = random.fork("refusals");
    const { refusalMaxMs } = plan.faults;
    often("busy-or-full", () => this.refuse(refusals.chance(0.5), refusals.between(50, refusalMaxMs)), 1);
    const { server } = this;
    if (server !== null) {
      often("backend-terminated", () => server.terminate());
      often("server-crash", () => this.crashServer(server, amount.between(200, 30_000)), 1);
    }
    const { clockStepMaxMs } = plan;
    const far = () => clockStepMaxMs > 60_000 && amount.chance(0.5);
    often("store-clock-back", () => this.stepStoreClock(-amount.between(100, far() ? clockStepMaxMs : 30_000)), 2);
    often("store-clock-ahead", () => this.stepStoreClock(amount.between(100, far() ? clockStepMaxMs : 60_000)), 2);
  }

  /** The store's answer to every write; null while it takes them. */
  get refusal(): ReturnType<StoreLink["refusal"]> {
    return this.refusing !== null && this.loop.now < this.refusing.until ? this.refusing : null;
  }

  /** Somebody locks the store's file, or its disk is full, for a while that does not outlast the chaos. */
  private refuse(isFull: boolean, ms: number): void {
    const { loop, engine } = this;
    const since = this.refusal?.since ?? loop.now;
    const until = Math.min(Math.max(loop.now + ms, this.refusal?.until ?? 0), this.plan.chaosMs);
    this.trace.add(loop.now, "store", `is ${isFull ? "full" : "locked"} for ${Math.round(until - loop.now)} ms`);
    const code = isFull ? "STORE_FULL" : "STORE_LOCKED";
    const error = () => new engine.IdemError(code, { path: "sim", forMs: Math.round(loop.now - since) });
    this.refusing = { since, until, error };
  }

  private crashServer(server: PostgresServer, downMs: number): void {
    this.trace.add(this.loop.now, "server", `crashes and is down for ${Math.round(downMs)} ms`);
    server.crash(downMs);
  }

  private stepStoreClock(ms: number): void {
    this.trace.add(this.loop.now, "store", `clock set ${Math.round(ms)} ms`);
    this.clock.step(ms);
  }

  /** The faults stop (no freeze outlasts the chaos): what is dead comes back, and every node runs the newest version. */
  private heal(): void {
    this.trace.add(this.loop.now, "world", "heals");
    this.isHealed = true;
    // Hints are never promised: a pooler may let none through for ever.
    const hintTrouble = this.faults.rates["hint-trouble"];
    this.faults = { ...healthy, rates: { ...healthy.rates, "hint-trouble": hintTrouble } };
    this.server?.recover();
    for (const node of this.nodes) {
      if (node.isUp && node.version === 1) node.restart(2);
      node.version = 2;
      node.start();
    }
  }
}
