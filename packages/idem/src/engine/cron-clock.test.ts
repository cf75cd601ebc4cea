import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { nextTick } from "../model/cron.ts";
import { DueHeap } from "../model/due-heap.ts";
import type { CronTrigger, FunctionConfig, MissedPolicy } from "../model/function-config.ts";
import { ulidTime } from "../model/ulid.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { CronRow, Tick, Ticked, TickInput } from "../store/flow.ts";
import type { NewPair, StaleRegistration } from "../store/ingest.ts";
import { CronClock, type PairOfTick, type PlannedTick } from "./cron-clock.ts";
import type { RegisteredTarget } from "./registry.ts";
import { StoreTime } from "./store-time.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const began = Date.UTC(2026, 0, 1);

interface Decided {
  readonly fn: string;
  readonly tickAt: number;
  readonly kind: string;
  readonly reason: string | null;
  /** The store's time at which it was decided. */
  readonly at: number;
}

/** A store that knows nothing but schedules, with a clock that can be set and never goes back. */
class TickStore {
  private readonly rows = new Map<string, CronRow>();
  readonly targets = new Map<string, RegisteredTarget>();
  readonly decided: Decided[] = [];
  readonly calls: TickInput[] = [];
  private readonly events = new Set<string>();
  registration = 0;
  rowReads = 0;
  stepMs = 0;
  private latest = 0;
  /** The fault of a call that has ticks; null for none. */
  fault: ((input: TickInput) => "away" | "answer lost" | null) | null = null;

  constructor(private readonly platform: ManualPlatform) {}

  now(): number {
    this.latest = Math.max(this.latest, began + this.platform.monoMs() + this.stepMs);
    return this.latest;
  }

  register(fn: string, ...triggers: CronTrigger[]): void {
    this.registration++;
    this.targets.set(fn, {
      fn,
      app: "shop",
      config: { id: fn, triggers } as unknown as FunctionConfig,
      pausedAt: null,
    });
    for (const { cron } of triggers) {
      if (!this.rows.has(`${fn} ${cron}`)) this.rows.set(`${fn} ${cron}`, { fn, cron, lastTickAt: this.now() });
    }
  }

  readonly reads = {
    crons: async (): Promise<readonly CronRow[]> => {
      this.rowReads++;
      return [...this.rows.values()];
    },
  };

  tick = async (input: TickInput): Promise<Ticked | StaleRegistration> => {
    this.calls.push(input);
    const fault = input.ticks.length === 0 ? null : (this.fault?.(input) ?? null);
    if (fault === "away") throw new Error("the disk is away");
    if (input.registration !== this.registration)
      return { kind: "stale-registration", registration: this.registration };
    const now = this.now();
    const fired: number[] = [];
    for (const [i, tick] of input.ticks.entries()) if (this.decide(tick, now)) fired.push(i);
    if (fault === "answer lost") throw new Error("the answer is lost");
    const nothing = { events: [], decisions: [], firsts: [], leased: [], cancelled: [] };
    return { kind: "ticked", now, fired, ...nothing, queued: false, dueAt: null };
  };

  private decide({ fn, cron, tickAt, event, pair }: Tick, at: number): boolean {
    const row = this.rows.get(`${fn} ${cron}`);
    // The caller may be a moment ahead of a clock that was set back and stands still.
    if (row === undefined || row.lastTickAt >= tickAt || tickAt > at) return false;
    this.rows.set(`${fn} ${cron}`, { ...row, lastTickAt: tickAt });
    if (this.events.has(event.id)) return false;
    this.events.add(event.id);
    this.decided.push({ fn, tickAt, kind: pair.kind, reason: pair.reason, at });
    return true;
  }

  get ticked(): TickInput[] {
    return this.calls.filter(({ ticks }) => ticks.length > 0);
  }

  /** "start 09:00" */
  told(fn: string): string[] {
    return this.decided
      .filter((each) => each.fn === fn)
      .map(({ kind, tickAt }) => `${kind} ${new Date(tickAt).toISOString().slice(11, 16)}`);
  }
}

const start = (fn: string, tick: PlannedTick, runId: string, leaseTo: string | null): NewPair => ({
  kind: "start",
  event: 0,
  fn,
  runId,
  key: null,
  windowMs: 0,
  hold: false,
  subject: "",
  generation: "",
  rank: 0,
  dueAt: tick.dueAt,
  leaseTo,
  reason: tick.reason,
  flow: null,
});

const pairOf: PairOfTick = (target, _, tick, runId, leaseTo) =>
  tick.decision === "missed"
    ? { kind: "missed", event: 0, fn: target.fn, reason: tick.reason ?? "" }
    : start(target.fn, tick, runId, leaseTo);

function world() {
  const platform = new ManualPlatform();
  const store = new TickStore(platform);
  const clocks: CronClock[] = [];
  let ids = 0;
  const clock = (over: { pairOf?: PairOfTick; slots?: number } = {}) => {
    const worker = { free: over.slots ?? 10, doubted: [] as string[], answers: 0 };
    const reported: string[] = [];
    const registry = {
      registration: 0,
      targets: new Map<string, RegisteredTarget>(),
      get all() {
        return [...this.targets.values()];
      },
      get: (fn: string) => registry.targets.get(fn) ?? null,
      refresh: async () => {
        registry.registration = store.registration;
        registry.targets = new Map(store.targets);
      },
    };
    const made = new CronClock({
      store,
      platform,
      env: "default",
      registry,
      time: new StoreTime(platform),
      traces: { beginTick: () => null },
      worker: {
        takesDeliveries: "worker",
        names: { doubt: (name) => worker.doubted.push(name) },
        reserve: () => {
          if (worker.free === 0) return null;
          worker.free--;
          return "worker";
        },
        unreserve: (count) => {
          worker.free += count;
        },
        takeIn: () => {
          worker.answers++;
        },
      },
      newId: () => `id-${++ids}`,
      pairOf: over.pairOf ?? pairOf,
      report: (what, error) => reported.push(`${what}: ${(error as Error).message}`),
    });
    clocks.push(made);
    return { clock: made, worker, reported, registry };
  };
  const settle = async () => {
    for (const each of clocks) await each.idle();
  };
  return { platform, store, clock, settle, advance: (ms: number) => platform.advance(ms, settle) };
}

/** A running clock that knows the functions. */
async function running(...schedules: readonly (readonly [string, ...CronTrigger[]])[]) {
  const all = world();
  for (const [fn, ...triggers] of schedules) all.store.register(fn, ...triggers);
  const one = all.clock();
  await one.registry.refresh();
  one.clock.start();
  await all.settle();
  return { ...all, ...one, another: all.clock };
}

describe("instants", () => {
  test("a tick fires at its instant and never before", async () => {
    const { store, advance } = await running(["hourly", { cron: "0 * * * *" }], ["daily", { cron: "30 9 * * *" }]);
    await advance(hour - 1);
    expect(store.decided).toEqual([]);
    await advance(1);
    expect(store.told("hourly")).toEqual(["start 01:00"]);
    await advance(day);
    expect(store.told("daily")).toEqual(["start 09:30"]);
    expect(store.decided).toHaveLength(26);
    for (const { tickAt, at, reason } of store.decided) expect({ at, reason }).toEqual({ at: tickAt, reason: null });
  });

  test("the store's clock decides, whatever this process's own says", async () => {
    const { store, advance, platform } = await running(["hourly", { cron: "0 * * * *" }]);
    platform.clock.stepWall(-3 * hour);
    await advance(hour);
    platform.clock.stepWall(day);
    await advance(hour);
    expect(store.decided.map(({ tickAt, at }) => at - tickAt)).toEqual([0, 0]);
  });

  test("a process whose clock is ahead misses nothing for having heard first that functions changed", async () => {
    const { store, clock, settle, advance, platform } = world();
    store.register("minutely", { cron: "* * * * *" });
    platform.clock.stepWall(hour);
    const { clock: late, registry } = clock();
    await registry.refresh();
    store.register("other", { cron: "0 0 1 1 *" });
    await advance(minute + 1_000);
    late.start();
    await settle();
    expect(store.told("minutely")).toEqual(["start 00:01"]);
  });

  test("an instant years away is waited for", async () => {
    const { store, advance } = await running(["leap", { cron: "0 0 29 2 *" }]);
    await advance(2 * 366 * day + 60 * day);
    expect(store.decided.map(({ tickAt, at }) => [tickAt, at])).toEqual([
      [Date.UTC(2028, 1, 29), Date.UTC(2028, 1, 29)],
    ]);
  });

  test("several clocks on one store start one run for each instant", async () => {
    const { store, advance, another, settle } = await running(["hourly", { cron: "0 * * * *" }]);
    for (let i = 0; i < 3; i++) {
      const { clock, registry } = another();
      await registry.refresh();
      clock.start();
    }
    await settle();
    await advance(6 * hour);
    expect(store.told("hourly")).toEqual([1, 2, 3, 4, 5, 6].map((h) => `start 0${h}:00`));
    // All of them asked.
    expect(store.ticked).toHaveLength(24);
  });

  test("two schedules of one function that meet are one run", async () => {
    const { store, advance } = await running(["fn", { cron: "0 * * * *" }, { cron: "0 */2 * * *" }]);
    await advance(4 * hour);
    expect(store.told("fn")).toEqual(["start 01:00", "start 02:00", "start 03:00", "start 04:00"]);
    const ids = store.ticked.flatMap(({ ticks }) => ticks).map(({ event, pair }) => [event.id, pair]);
    const atTwo = ids.filter(([id]) => ulidTime(id as string) === began + 2 * hour);
    expect(atTwo).toHaveLength(2);
    expect(atTwo[0]).toEqual(atTwo[1]);
  });
});

describe("a clock that is set", () => {
  test("25 hours ahead: what lies between is missed, like any downtime", async () => {
    const { store, advance } = await running(["hourly", { cron: "0 * * * *", missed: { kind: "skip" } }]);
    await advance(hour + 10_000);
    store.stepMs += 25 * hour + 5 * minute;
    await advance(10_000);
    expect(store.decided.map(({ kind }) => kind)).toEqual(["start", ...Array(25).fill("missed")]);
    await advance(hour);
    expect(store.told("hourly").at(-1)).toBe("start 03:00");
  });

  test("25 hours back: nothing is decided twice, and what comes after goes on when its time comes", async () => {
    const { store, advance } = await running(["hourly", { cron: "0 * * * *" }]);
    await advance(26 * hour);
    store.stepMs -= 25 * hour;
    await advance(25 * hour);
    expect(store.decided).toHaveLength(26);
    await advance(2 * hour);
    expect(store.decided.map(({ tickAt }) => tickAt)).toEqual(
      Array.from({ length: 28 }, (_, i) => began + (i + 1) * hour),
    );
  });

  test("set back to just after the last look it stands still, and is asked at most every second", async () => {
    const { store, advance } = await running(["hourly", { cron: "0 * * * *" }]);
    await advance(hour - 2);
    const asked = store.calls.length;
    store.now();
    store.stepMs -= minute;
    await advance(minute);
    expect(store.decided).toEqual([]);
    expect(store.calls.length - asked).toBeLessThan(90);
    await advance(1_000);
    expect(store.told("hourly")).toEqual(["start 01:00"]);
  });

  test("steps of up to 25 hours either way neither repeat nor lose an instant, however many clocks look", async () => {
    const move = fc.record({
      stepMs: fc.constantFrom(0, 25 * hour, -25 * hour, hour, -hour, 90 * minute, 1_000, -1_000),
      forMs: fc.constantFrom(20_000, 10 * minute, 61 * minute, 5 * hour, 30 * hour),
    });
    const policies: readonly MissedPolicy[] = [{ kind: "skip" }, { kind: "last" }, { kind: "all", max: 4 }];
    await fc.assert(
      fc.asyncProperty(
        fc.array(move, { minLength: 1, maxLength: 8 }),
        fc.constantFrom(...policies),
        async (moves, missed) => {
          const cron = "*/30 * * * *";
          const { store, advance, another } = await running(["fn", { cron, missed }]);
          const second = another();
          await second.registry.refresh();
          second.clock.start();
          for (const { stepMs, forMs } of moves) {
            store.stepMs += stepMs;
            await advance(forMs);
          }
          // Time enough to be looked at.
          await advance(10_000);
          const instants: number[] = [];
          for (let at = nextTick(cron, began)!; at <= store.now(); at = nextTick(cron, at)!) instants.push(at);
          expect(store.decided.map(({ tickAt }) => tickAt)).toEqual(instants);
          for (const { tickAt, at } of store.decided) expect(at).toBeGreaterThanOrEqual(tickAt);
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe("downtime", () => {
  const after = async (missed: MissedPolicy | undefined, downMs: number) => {
    const all = world();
    all.store.register("hourly", missed === undefined ? { cron: "0 * * * *" } : { cron: "0 * * * *", missed });
    all.platform.clock.advance(downMs);
    const { clock, registry } = all.clock();
    await registry.refresh();
    clock.start();
    await all.settle();
    return all;
  };

  test.each([
    ["skip", { kind: "skip" }, ["missed 01:00", "missed 02:00", "missed 03:00"]],
    ["last", { kind: "last" }, ["missed 01:00", "missed 02:00", "start 03:00"]],
    ["last, unless told", undefined, ["missed 01:00", "missed 02:00", "start 03:00"]],
    ["all, at most two", { kind: "all", max: 2 }, ["missed 01:00", "start 02:00", "start 03:00"]],
    ["all", { kind: "all", max: 50 }, ["start 01:00", "start 02:00", "start 03:00"]],
  ] as const)("ticks that were missed follow the policy: %s", async (_, missed, expected) => {
    const { store, advance } = await after(missed, 3 * hour + 2 * minute);
    expect(store.told("hourly")).toEqual(expected);
    expect(store.decided.every(({ reason }) => reason !== null)).toBe(true);
    await advance(hour);
    expect(store.told("hourly").at(-1)).toBe("start 04:00");
  });

  test("a restart within a minute of the tick starts it as if nothing had been", async () => {
    const { store } = await after({ kind: "skip" }, hour + minute);
    expect(store.decided).toMatchObject([{ kind: "start", reason: null }]);
  });

  test("a year of every minute is decided in one bounded call", async () => {
    const all = world();
    all.store.register("minutely", { cron: "* * * * *" });
    all.platform.clock.advance(365 * day);
    const { clock, registry } = all.clock();
    await registry.refresh();
    clock.start();
    await all.settle();
    expect(all.store.ticked).toHaveLength(1);
    expect(all.store.decided.length).toBeLessThan(110);
    expect(all.store.decided[0]!.reason).toMatch(/; so were 525\d{3} earlier ticks since 2026-01-01T00:01:00Z$/);
  });

  test("a process that slept while another ticked finds out before it calls anything missed", async () => {
    const { store, advance, platform, another, settle } = await running(["hourly", { cron: "0 * * * *" }]);
    const reads = store.rowReads;
    // Nothing in this process runs for five hours, while another one ticks.
    const other = another();
    await other.registry.refresh();
    platform.clock.advance(5 * hour);
    other.clock.start();
    await settle();
    const asked = store.ticked.length;
    await advance(2_000);
    expect(store.told("hourly")).toHaveLength(5);
    expect(store.rowReads - reads).toBe(2);
    expect(store.ticked).toHaveLength(asked);
  });
});

describe("many", () => {
  test("10,000 schedules that are due at once are sent in batches, each once", async () => {
    const schedules = Array.from({ length: 10_000 }, (_, i) => [`fn-${i}`, { cron: "0 * * * *" }] as const);
    const { store, advance, worker } = await running(...schedules);
    await advance(hour);
    expect(store.ticked.map(({ ticks }) => ticks.length)).toEqual(Array(20).fill(500));
    expect(new Set(store.decided.map(({ fn }) => fn)).size).toBe(10_000);
    expect(store.decided).toHaveLength(10_000);
    expect(store.decided.every(({ at, tickAt }) => at === tickAt)).toBe(true);
    // Of the calls under way together no more than the ten free slots are used, and all were given back.
    const leased = store.ticked.map(
      ({ ticks }) => ticks.filter(({ pair }) => pair.kind === "start" && pair.leaseTo !== null).length,
    );
    expect(Math.max(...leased)).toBe(10);
    expect(worker).toMatchObject({ free: 10, doubted: [] });
  });

  test("ticks of one call are in order of time, and more than a call holds is sent in several", async () => {
    const all = world();
    for (let i = 0; i < 9; i++) {
      all.store.register(`fn-${i}`, { cron: `${i} * * * *`, missed: { kind: "all", max: 1_000 } });
    }
    all.platform.clock.advance(200 * hour);
    const { clock, registry } = all.clock();
    await registry.refresh();
    clock.start();
    await all.settle();
    expect(all.store.decided).toHaveLength(9 * 200);
    for (const { ticks } of all.store.ticked) {
      expect(ticks.length).toBeLessThanOrEqual(500);
      expect(ticks.every(({ tickAt }, i) => i === 0 || tickAt >= ticks[i - 1]!.tickAt)).toBe(true);
    }
  });

  test("the heap gives back what it was given, in order", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000)), (instants) => {
        const heap = new DueHeap<number>();
        for (const at of instants) heap.add(at, at);
        const taken: number[] = [];
        for (let item = heap.takeFirst(); item !== null; item = heap.takeFirst()) taken.push(item);
        expect(taken).toEqual([...instants].sort((a, b) => a - b));
        expect(heap.nextAt).toBeNull();
      }),
    );
  });
});

describe("functions that change", () => {
  test("a new registration begins its schedule, and an old one ends", async () => {
    const { store, advance, clock, registry } = await running(["old", { cron: "0 * * * *" }]);
    await advance(hour);
    store.register("new", { cron: "30 * * * *" });
    store.targets.delete("old");
    await registry.refresh();
    clock.refresh();
    await advance(2 * hour);
    expect(store.told("old")).toEqual(["start 01:00"]);
    expect(store.told("new")).toEqual(["start 01:30", "start 02:30"]);
  });

  test("a schedule that another process registered is found within seconds, and none of its ticks is lost", async () => {
    const { store, advance } = await running();
    store.register("elsewhere", { cron: "* * * * *" });
    await advance(10_000);
    await advance(minute);
    expect(store.told("elsewhere")).toEqual(["start 00:01"]);
  });

  test("functions that changed while ticks were on their way are decided anew, with the same run ids", async () => {
    const { store, advance } = await running(["fn", { cron: "0 * * * *" }]);
    await advance(hour - 1);
    store.register("other", { cron: "0 0 1 1 *" });
    await advance(1);
    expect(store.told("fn")).toEqual(["start 01:00"]);
    const runIds = store.ticked.flatMap(({ ticks }) =>
      ticks.map(({ pair }) => (pair.kind === "start" ? pair.runId : null)),
    );
    expect(runIds).toHaveLength(2);
    expect(runIds[0]).toBe(runIds[1]);
  });

  test("telling the clock that nothing changed costs nothing", async () => {
    const { store, settle, clock } = await running(["fn", { cron: "0 * * * *" }]);
    const calls = [store.calls.length, store.rowReads];
    for (let i = 0; i < 10; i++) clock.refresh();
    await settle();
    expect([store.calls.length, store.rowReads]).toEqual(calls);
  });

  test("without schedules no rows are read", async () => {
    const { store, advance } = await running();
    await advance(hour);
    expect(store.rowReads).toBe(0);
  });
});

describe("a store that fails", () => {
  test.each(["away", "answer lost"] as const)(
    "%s: the failure is told, and the tick is decided once, a little later",
    async (fault) => {
      const { store, advance, reported, worker } = await running(["hourly", { cron: "0 * * * *" }]);
      let left = 3;
      store.fault = () => (left-- > 0 ? fault : null);
      await advance(hour);
      await advance(20_000);
      expect(store.told("hourly")).toEqual(["start 01:00"]);
      expect(reported.length).toBeGreaterThan(0);
      expect(reported[0]).toMatch(/^cron: the /);
      // Jobs may be leased to a name without anybody knowing.
      expect(worker.doubted.length).toBe(reported.length);
      expect(worker.free).toBe(10);
      await advance(hour);
      expect(store.told("hourly").at(-1)).toBe("start 02:00");
    },
  );

  test("it is asked less and less often while it is ill", async () => {
    const { store, advance } = await running(["hourly", { cron: "0 * * * *" }]);
    store.fault = () => "away";
    await advance(2 * hour);
    // An hour at 30 seconds each, after a few quicker ones.
    expect(store.ticked.length).toBeLessThan(135);
    store.fault = null;
    await advance(minute);
    expect(store.decided.map(({ tickAt }) => tickAt)).toEqual([began + hour, began + 2 * hour]);
  });

  test("one schedule that cannot be decided does not keep the others from ticking", async () => {
    const all = world();
    all.store.register("bad", { cron: "0 * * * *" });
    all.store.register("unreadable", { cron: "every hour" });
    all.store.register("good", { cron: "0 * * * *" });
    const { clock, registry, reported, worker } = all.clock({
      pairOf: (target, event, tick, runId, leaseTo) => {
        if (target.fn === "bad") throw new Error("no such thing");
        return pairOf(target, event, tick, runId, leaseTo);
      },
    });
    await registry.refresh();
    clock.start();
    await all.advance(hour);
    expect(all.store.told("good")).toEqual(["start 01:00"]);
    expect(all.store.told("bad")).toEqual([]);
    expect(reported.join("\n")).toMatch(
      /"every hour" of function unreadable[\s\S]*"0 \* \* \* \*" of function bad: no such thing/,
    );
    expect(worker.free).toBe(10);
  });
});

describe("what a tick carries", () => {
  test("the timer event, with an id made of environment, function and instant", async () => {
    const { store, advance } = await running(
      ["fn", { cron: "TZ=Europe/Paris 0 9 * * *" }],
      ["fn2", { cron: "0 8 * * *" }],
    );
    await advance(day);
    const [one, two] = store.ticked.flatMap(({ ticks }) => ticks);
    const tickAt = Date.UTC(2026, 0, 1, 8);
    expect(one!.event).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      callerId: null,
      windowMs: 0,
      name: "inngest/scheduled.timer",
      data: expect.any(String),
      ts: tickAt,
      extra: null,
      sourceRunId: null,
    });
    expect(JSON.parse(one!.event.data)).toEqual({
      cron: "TZ=Europe/Paris 0 9 * * *",
      scheduledAt: "2026-01-01T08:00:00Z",
      fireAt: "2026-01-01T08:00:00Z",
    });
    expect(ulidTime(one!.event.id)).toBe(tickAt);
    expect(two!.event.id).not.toBe(one!.event.id);
  });

  test("with jitter the run is due later, at a time that is the same for everybody, and waits for it in the queue", async () => {
    const { store, advance, another } = await running(["fn", { cron: "0 * * * *", jitterMs: 5 * minute }]);
    const second = another();
    await second.registry.refresh();
    second.clock.start();
    await advance(hour);
    const [one, two] = store.ticked.flatMap(({ ticks }) => ticks) as [Tick, Tick];
    expect(two).toEqual({ ...one, pair: { ...one.pair, runId: expect.any(String) } });
    const tickAt = began + hour;
    const { dueAt, leaseTo } = one.pair as Extract<NewPair, { kind: "start" }>;
    expect(dueAt).toBe(one.event.ts);
    expect(dueAt).toBeGreaterThan(tickAt);
    expect(dueAt).toBeLessThanOrEqual(tickAt + 5 * minute);
    expect(leaseTo).toBeNull();
    expect(Date.parse(JSON.parse(one.event.data).fireAt)).toBe(dueAt);
  });
});

test("a stopped clock asks for nothing any more, and what it had asked for is answered first", async () => {
  const { store, advance, clock, worker, platform } = await running(["hourly", { cron: "0 * * * *" }]);
  await advance(hour - 1);
  const { tick } = store;
  let answer = () => {};
  store.tick = async (input) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return tick(input);
  };
  await platform.advance(1, async () => {});
  const answers = worker.answers;
  const stopping = clock.stop();
  answer();
  await stopping;
  expect(worker).toMatchObject({ answers: answers + 1, free: 10 });
  expect(store.told("hourly")).toEqual(["start 01:00"]);
  const calls = store.calls.length;
  await advance(5 * hour);
  expect(store.calls).toHaveLength(calls);
  expect(platform.untilNext()).toBeNull();
});
