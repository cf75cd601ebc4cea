// Limits that several nodes share: none of them is exceeded at any commit, and none of the room is lost.
import { describe, expect, test } from "vitest";
import type { LaneCaps } from "../../../flow/lane.ts";
import { end, fn, laneOf, newEvent, runJob, startFlow, startPair, type World } from "../../contract/world.ts";
import type { StartPair } from "../../ingest.ts";
import { type Cluster, shuffled, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const inLane = (slots: Readonly<Record<string, number>>): Partial<StartPair> => ({
  flow: startFlow({ lane: laneOf(slots) }),
});
const capsOf = (...slots: number[]): Record<string, LaneCaps> => ({ [fn]: { slots, throttle: null } });

/** Held slots of which there are more than `cap` says. */
async function exceeded({ rows }: Cluster, cap: (slot: string) => number): Promise<string[]> {
  const held = await rows<{ slot: string; count: number }>(`
    select slot, sum(1 + beside)::int as count
      from (select slot_1 as slot, beside_1 as beside from .jobs where leased_by is not null
            union all select slot_2, beside_2 from .jobs where leased_by is not null) held
     where slot is not null group by slot`);
  return held.filter(({ slot, count }) => count > cap(slot)).map(({ slot, count }) => `${slot}: ${count}`);
}

const errorsOf = ({ nodes }: Cluster) => nodes.flatMap(({ wire }) => wire.errors);

describe("slots", () => {
  for (const cap of [1, 2]) {
    test(`of each of many keys ${cap} ${cap === 1 ? "is" : "are"} held at most, through leases, ends, losses and new runs of three nodes`, async () => {
      const cluster = await open({ nodes: 3, clock: "manual" });
      const { nodes, clock } = cluster;
      const caps = capsOf(cap, 6);
      const capFor = (slot: string) => (slot === "all" ? 6 : cap);
      const keys = upTo(8).map((n) => `key${n}`);
      let runs = 0;
      const send = ({ world }: (typeof nodes)[number], leaseTo: string | null) =>
        world.ingest(
          shuffled(keys, runs).map((key) => newEvent(`e${runs}-${key}`)),
          shuffled(keys, runs + 1).map((key, event) =>
            startPair(`r${String(runs++).padStart(4, "0")}`, { event, leaseTo, ...inLane({ [key]: cap, all: 6 }) }),
          ),
        );
      let endedCount = 0;
      for (const round of upTo(3)) {
        const workers = nodes.map((_, n) => `w${round}-${n}`);
        await Promise.all(nodes.map(({ world }, n) => world.store.heartbeat(workers[n]!, 1_000)));
        // Born leased and leased, all at once; the node that will be lost takes half of the room at most, so that others have some.
        const got = await Promise.all([
          ...nodes.map(async (node, n) => ({ n, jobs: (await send(node, n === 0 ? null : workers[n]!)).leased })),
          ...nodes.map(async ({ world }, n) => {
            const { jobs } = await world.lease(workers[n]!, { caps, max: n === 0 ? 3 : 9 });
            return { n, jobs };
          }),
        ]);
        expect(await exceeded(cluster, capFor)).toEqual([]);
        // The first node is lost; the others end what they have.
        const ending = got
          .filter(({ n }) => n > 0)
          .flatMap(({ n, jobs }) => jobs.map((job) => ({ n, job: runJob(job) })));
        const ends = await Promise.all(
          ending.map(({ n, job }) =>
            nodes[n]!.world.tryAdvance(job.jobId, { worker: workers[n]!, fence: job.fence, next: end("completed") }),
          ),
        );
        expect(ends.map(({ kind }) => kind)).toEqual(ends.map(() => "advanced"));
        endedCount += ends.length;
        clock.advance(1_001);
        await Promise.all(nodes.map(({ world }) => world.store.sweep({ max: 100, repair: false })));
        expect(await exceeded(cluster, () => 0)).toEqual([]);
      }
      expect(endedCount).toBeGreaterThan(0);
      expect(errorsOf(cluster)).toEqual([]);
    });
  }

  test("beside those of runs at work are within the cap while three nodes lease, ask for more and give back at once", async () => {
    const cluster = await open({ nodes: 3 });
    const { nodes } = cluster;
    const caps = capsOf(4, 7);
    const lanes = ["a", "b", "c"].map((key) => inLane({ [key]: 4, all: 7 }));
    for (const n of upTo(12)) await nodes[0]!.world.start(`r${n}`, lanes[n % 3]!);
    let turn = 0;
    const beside = (keep: number, want: number) => ({ beside: { turn: ++turn, keep, want, caps: [4, 7] } });
    let [left, granted] = [12, 0];
    while (left > 0) {
      const got = await Promise.all(
        nodes.map(async ({ world }, n) => ({
          n,
          jobs: (await world.lease(`w${n}`, { caps, max: 1 })).jobs.map(runJob),
        })),
      );
      const held = got.flatMap(({ n, jobs }) => jobs.map(({ jobId, fence }) => ({ n, jobId, fence })));
      const say = (each: (typeof held)[number], patch: object) =>
        nodes[each.n]!.world.advance(each.jobId, { worker: `w${each.n}`, fence: each.fence, ...patch });
      const given = await Promise.all([
        ...held.map((each) => say(each, beside(0, 3))),
        nodes[1]!.world.lease("w9", { caps, max: 1 }).then(async ({ jobs }) => {
          for (const { jobId, fence } of jobs)
            await nodes[1]!.world.advance(jobId, { worker: "w9", fence, next: end("completed") });
          left -= jobs.length;
          return null;
        }),
      ]);
      expect(await exceeded(cluster, (slot) => (slot === "all" ? 7 : 4))).toEqual([]);
      for (const each of given) granted += each?.beside ?? 0;
      await Promise.all(held.map((each) => say(each, beside(0, 1))));
      expect(await exceeded(cluster, (slot) => (slot === "all" ? 7 : 4))).toEqual([]);
      await Promise.all(held.map((each) => say(each, { next: end("completed") })));
      left -= held.length;
    }
    expect(granted).toBeGreaterThan(0);
    expect(await exceeded(cluster, () => 0)).toEqual([]);
    expect(errorsOf(cluster)).toEqual([]);
  });

  test("of a cap that was lowered while they were held go to nobody before there is room, on any node", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    for (const n of upTo(6)) await a.world.start(`r${n}`, inLane({ all: 4 }));
    const { jobs } = await a.world.lease("w1", { caps: capsOf(4) });
    expect(jobs).toHaveLength(4);
    const lease = () =>
      Promise.all(
        [a, b].map(async ({ world }, n) => (await world.lease(`w${n + 1}`, { caps: capsOf(2) })).jobs.length),
      );
    expect(await lease()).toEqual([0, 0]);
    const endOne = (n: number) => a.world.advance(jobs[n]!.jobId, { fence: jobs[n]!.fence, next: end("completed") });
    await endOne(0);
    await endOne(1);
    expect(await lease()).toEqual([0, 0]);
    await endOne(2);
    expect((await lease()).sort()).toEqual([0, 1]);
  });

  test("of a thousand keys that two nodes fill at once: each has its cap, and all are served", async () => {
    const cluster = await open();
    const { nodes, rows } = cluster;
    const keys = upTo(1_000).map((n) => `key${n}`);
    const send = (side: number, part: readonly string[]) =>
      nodes[side]!.world.ingest(
        part.map((key) => newEvent(`e${side}-${key}`)),
        part.map((key, event) => startPair(`r${side}-${key}`, { event, leaseTo: `w${side}`, ...inLane({ [key]: 1 }) })),
      );
    // A few of them are asked for by both, in opposite orders.
    await Promise.all([send(0, keys.slice(0, 510)), send(1, keys.slice(490).reverse())]);
    expect(await rows("select count(*)::int as leased from .jobs where leased_by is not null")).toEqual([
      { leased: 1_000 },
    ]);
    expect(await exceeded(cluster, () => 1)).toEqual([]);
    expect(errorsOf(cluster)).toEqual([]);
  });
});

describe("a rate limit", () => {
  test("that two nodes ask at once lets in as many as it allows", async () => {
    const { nodes, rows } = await open();
    const rateLimit = { id: "r", limit: 5, periodMs: 60_000 };
    const decisions = await Promise.all(
      upTo(20).map((n) => nodes[n % 2]!.world.start(`r${n}`, { flow: startFlow({ rateLimit }) })),
    );
    expect(decisions.filter(({ kind }) => kind === "started")).toHaveLength(5);
    expect(await rows("select count(*)::int as starts from .rate_starts")).toEqual([{ starts: 5 }]);
  });
});

describe("a throttle", () => {
  test("that two nodes ask at once, by leases and by events, lets in its burst", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    const rule = { limit: 1, periodMs: 1_000, burst: 3 };
    const caps = { [fn]: { slots: [], throttle: rule } };
    const over = (leaseTo: string | null) => ({
      leaseTo,
      flow: startFlow({ lane: laneOf({}, { throttle: ["t", rule] }) }),
    });
    for (const n of upTo(5)) await a.world.start(`q${n}`, over(null));
    const leased = await Promise.all([
      ...[a, b].map(async ({ world }, n) => (await world.lease(`w${n}`, { caps })).jobs),
      ...[a, b].map(
        async ({ world }, n) => (await world.ingest([newEvent(`e${n}`)], [startPair(`r${n}`, over("w9"))])).leased,
      ),
    ]);
    expect(leased.flat()).toHaveLength(3);
    clock.advance(1_000);
    const next = await Promise.all([a, b].map(async ({ world }, n) => (await world.lease(`w${n}`, { caps })).jobs));
    expect(next.flat()).toHaveLength(1);
  });
});

describe("a singleton", () => {
  const replacing = (key: string) => startFlow({ singleton: { key, mode: "cancel", result: '"replaced"' } });
  const openRuns = ({ rows }: Cluster) => rows("select id from .runs where ended_state is null order by id");

  test("that several events replace at once on two nodes has one run alive, and the others were told of", async () => {
    const cluster = await open();
    for (const n of upTo(8)) {
      const ids = upTo(6).map((i) => `r${n}-${i}`);
      await Promise.all(
        ids.map((id, i) => cluster.nodes[i % 2]!.world.start(id, { leaseTo: "w1", flow: replacing("s") })),
      );
      expect(await openRuns(cluster)).toHaveLength(1);
    }
    expect(await cluster.rows("select count(*)::int as told from .jobs where kind = 'announce'")).toEqual([
      { told: 47 },
    ]);
    expect(errorsOf(cluster)).toEqual([]);
  });

  test("that was taken while somebody waited to replace it is replaced, though that one began before", async () => {
    const cluster = await open({ clock: "manual" });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    const start = (world: World, runId: string) => world.start(runId, { flow: replacing("s") });
    const held = b.wire.hold(/insert into .*claims/s);
    const early = start(b.world, "early");
    await held.reached;
    clock.advance(100);
    await start(a.world, "late");
    held.release();
    await early;
    expect(await openRuns(cluster)).toEqual([{ id: "early" }]);
    await start(a.world, "next");
    expect(await openRuns(cluster)).toEqual([{ id: "next" }]);
    expect(await cluster.rows("select id from .runs where ended_at < created_at")).toEqual([]);
  });

  test("that ends as another event asks for it: skipped or started, and never two alive", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    const flow = startFlow({ singleton: { key: "s", mode: "skip" } });
    await a.world.startLeased("r0", { flow });
    let holder = "r0";
    for (const n of upTo(15)) {
      const [decision] = await Promise.all([
        b.world.start(`r${n + 1}`, { leaseTo: "w1", flow }),
        a.world.tryAdvance(holder, { next: end("completed") }),
      ]);
      const alive = await openRuns(cluster);
      expect(alive).toEqual(decision.kind === "started" ? [{ id: `r${n + 1}` }] : []);
      if (decision.kind !== "started") await a.world.startLeased(`s${n}`, { flow });
      holder = decision.kind === "started" ? `r${n + 1}` : `s${n}`;
    }
  });
});

describe("the ready queue", () => {
  test("has no row that waits longer than a second for being below what was leased last", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    const lease = async () => (await a.world.lease("w1")).jobs.map(({ jobId }) => jobId);
    const rank = clock.wallMs();
    await b.world.start("ordinary", { rank });
    expect(await lease()).toEqual(["ordinary"]);
    // One that was committed late, and one with a high priority.
    await b.world.start("late", { rank: rank - 10_000 });
    await b.world.start("urgent", { rank: rank - 600_000 });
    const atOnce = await lease();
    clock.advance(1_000);
    expect([...atOnce, ...(await lease())].sort()).toEqual(["late", "urgent"]);
  });

  test("shows each what it asks for, however often another one looks for other functions", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    const lease = async (worker: string, of: string) => (await a.world.lease(worker, { functions: [of] })).jobs.length;
    const rank = clock.wallMs();
    await b.world.start("first", { fn: "busy", rank });
    await lease("w1", "busy");
    await lease("w2", "quiet");
    await b.world.start("waiting", { fn: "quiet", rank: rank - 10_000 });
    let leased = 0;
    for (const n of upTo(12)) {
      clock.advance(100);
      await b.world.start(`busy${n}`, { fn: "busy", rank: rank + n * 100 });
      await lease("w1", "busy");
      leased += await lease("w2", "quiet");
    }
    expect(leased).toBe(1);
  });
});
