// Workers that are lost, and those that only seemed to be: what they held changes hands once.
import { describe, expect, test } from "vitest";
import {
  end,
  env,
  eventWait,
  fn,
  laneOf,
  newEvent,
  newStep,
  runJob,
  startFlow,
  startPair,
  value,
  type World,
} from "../../contract/world.ts";
import { type Cluster, commit, shuffled, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const termMs = 1_000;
const ids = (count: number, name = "r") => upTo(count).map((n) => `${name}${String(n).padStart(3, "0")}`);
const startAll = (world: World, runIds: readonly string[], worker: string) =>
  world.ingest(
    runIds.map((id) => newEvent(`event of ${id}`)),
    runIds.map((id, event) => startPair(id, { event, leaseTo: worker })),
  );
const sweep = ({ world }: { world: World }) => world.store.sweep({ max: 1_000, repair: false });
const jobsOf = ({ rows }: Cluster) =>
  rows("select distinct leased_by, fence::int, lost_workers, count(*)::int as count from .jobs group by 1, 2, 3");

describe("a worker that was frozen beyond its term", () => {
  test("and goes on with fifty saves in flight: all are refused, its runs were rescued once, and it is told", async () => {
    const cluster = await open({ clock: "manual" });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    const runIds = ids(50);
    await a.world.store.heartbeat("w1", termMs);
    await startAll(a.world, runIds, "w1");
    clock.advance(termMs + 1);
    expect(await sweep(b)).toMatchObject({ rescued: 50 });
    const answers = await Promise.all(runIds.map((id) => a.world.tryAdvance(id, { steps: [newStep("s")] })));
    expect(answers).toEqual(runIds.map(() => ({ kind: "fenced" })));
    expect(await a.world.store.heartbeat("w1", termMs)).toMatchObject({ alive: false });
    expect(await sweep(b)).toMatchObject({ rescued: 0 });
    expect(await jobsOf(cluster)).toEqual([{ leased_by: null, fence: 2, lost_workers: 1, count: 50 }]);
    expect(await cluster.rows("select 1 from .steps")).toEqual([]);
  });

  test("and saves while it is rescued: each save is in the memo of whoever takes over, or was refused", async () => {
    const cluster = await open({ clock: "manual" });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    for (const round of upTo(3)) {
      const runIds = ids(15, `r${round}-`);
      const worker = `w${round}`;
      await a.world.store.heartbeat(worker, termMs);
      await startAll(a.world, runIds, worker);
      clock.advance(termMs + 1);
      const [answers] = await Promise.all([
        Promise.all(
          shuffled(runIds, round).map(
            async (id) => [id, await a.world.tryAdvance(id, { worker, steps: [newStep("s")] })] as const,
          ),
        ),
        sweep(b),
      ]);
      const saved = answers.filter(([, { kind }]) => kind === "advanced").map(([id]) => id);
      const { jobs } = await b.world.lease("heir");
      const inMemo = jobs.map(runJob).filter(({ memo }) => memo.steps.length > 0);
      expect(jobs).toHaveLength(15);
      expect(inMemo.map(({ jobId }) => jobId).sort()).toEqual(saved.sort());
      await b.world.store.handBack("heir");
      await Promise.all(
        runIds.map((runId) => b.world.store.cancel({ env, runId, result: "null", releaseKey: false, ingest: null })),
      );
    }
    expect(await cluster.countDeadlocks()).toBe(0);
  });
});

describe("a rescue", () => {
  test("by three nodes at once takes each run back once, and its slot with it", async () => {
    const cluster = await open({ clock: "manual", nodes: 3 });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    const caps = { [fn]: { slots: [10], throttle: null } };
    await a.world.store.heartbeat("w1", termMs);
    for (const id of ids(12)) await a.world.start(id, { flow: startFlow({ lane: laneOf({ all: 10 }) }) });
    expect((await a.world.lease("w1", { caps })).jobs).toHaveLength(10);
    clock.advance(termMs + 1);
    const answers = await Promise.all(nodes.map(sweep));
    expect(answers.reduce((sum, { rescued }) => sum + rescued, 0)).toBe(10);
    expect(await b.world.store.reads.limitUses(env, 10)).toMatchObject([{ id: "all", used: 0, waiting: 12 }]);
    expect((await b.world.lease("w2", { caps })).jobs).toHaveLength(10);
    expect(await cluster.rows("select max(fence)::int as fence, max(lost_workers) as lost from .jobs")).toEqual([
      { fence: 3, lost: 1 },
    ]);
  });

  for (const fate of ["cut", "lost"] as const) {
    test(`whose node was cut off ${fate === "cut" ? "before" : "after"} its commit, beside another one: once`, async () => {
      const cluster = await open({ clock: "manual" });
      const { nodes, clock } = cluster;
      const [a, b] = nodes;
      await a.world.store.heartbeat("w1", termMs);
      await startAll(a.world, ids(10), "w1");
      clock.advance(termMs + 1);
      const met = a.wire.next(commit, fate);
      const rescuing = sweep(a);
      await met;
      await Promise.all([rescuing, sweep(b)]);
      expect(await jobsOf(cluster)).toEqual([{ leased_by: null, fence: 2, lost_workers: 1, count: 10 }]);
    });
  }

  test("in parts, cut short and gone on with by another node: every run once", async () => {
    const cluster = await open({ clock: "manual" });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    await a.world.store.heartbeat("w1", termMs);
    await startAll(a.world, ids(10), "w1");
    clock.advance(termMs + 1);
    expect(await a.world.store.sweep({ max: 4, repair: false })).toMatchObject({ rescued: 4 });
    await a.close();
    expect(await sweep(b)).toMatchObject({ rescued: 6 });
    expect(await jobsOf(cluster)).toEqual([{ leased_by: null, fence: 2, lost_workers: 1, count: 10 }]);
  });
});

describe("a lease whose session was lost", () => {
  const ready = /rank >= /;
  test("before its commit was sent did not happen, and is made again", async () => {
    const cluster = await open();
    const [a] = cluster.nodes;
    await a.world.start("r");
    const met = a.wire.next(ready, "cut");
    const leasing = a.world.lease("w1");
    await met;
    expect((await leasing).jobs).toMatchObject([{ jobId: "r", fence: 1 }]);
  });

  test("with its commit is not made again, or its first jobs would be nobody's: who asked hands back what the name may hold", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    for (const fate of ["cut", "lost"] as const) {
      await a.world.start(`r ${fate}`);
      const met = a.wire.next(commit, fate);
      const leasing = a.world.lease(`w ${fate}`);
      leasing.catch(() => {});
      await met;
      await expect(leasing).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
      expect(await b.world.store.handBack(`w ${fate}`)).toEqual({ count: fate === "lost" ? 1 : 0 });
      // Until the server notices that its session is gone, the row is locked and passed over.
      const leased = async () => (await b.world.lease("w9")).jobs.map(({ jobId }) => jobId);
      await expect.poll(leased).toEqual([`r ${fate}`]);
    }
  });
});

describe("a worker that stops", () => {
  test("hands back what an event wakes and what it is still saving: no deadlock, and nobody has it", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    for (const round of upTo(3)) {
      // Born in an order that is not that of their ids.
      const runIds = shuffled(ids(15, `r${round}-`), round);
      const worker = `w${round}`;
      await startAll(a.world, runIds, worker);
      await Promise.all(
        runIds.map((id) => a.world.advance(id, { worker, waits: [eventWait("w", { eventName: `n${round}` })] })),
      );
      await b.world.ingest([newEvent(`e${round}`, { name: `n${round}` })], [], { leaseTo: "w9" });
      const waits = shuffled(runIds, round + 100).map((runId) => ({ runId, stepId: "w" }));
      const [, resumed] = await Promise.all([
        a.world.store.handBack(worker),
        b.world.store.resume({ env, jobId: `deliver:e${round}`, fence: 1, waits, outcome: value(1) }),
        ...runIds.map((id) => a.world.tryAdvance(id, { worker, steps: [newStep("s")] })),
      ]);
      expect(resumed).toMatchObject({ kind: "resumed" });
      expect(resumed.kind === "resumed" && resumed.woken).toHaveLength(15);
    }
    expect(await cluster.rows("select 1 from .jobs where leased_by is not null")).toEqual([]);
    expect(cluster.nodes.flatMap(({ wire }) => wire.errors)).toEqual([]);
    expect(await cluster.countDeadlocks()).toBe(0);
  });

  test("and a lease of it that was still on its way: what it leased is rescued", async () => {
    const cluster = await open({ clock: "manual" });
    const { nodes, clock } = cluster;
    const [a, b] = nodes;
    await a.world.store.heartbeat("w1", termMs);
    await a.world.start("r");
    const held = a.wire.hold(commit);
    const leasing = a.world.lease("w1");
    await held.reached;
    await b.world.store.handBack("w1");
    held.release();
    expect((await leasing).jobs).toHaveLength(1);
    clock.advance(1);
    expect(await sweep(b)).toMatchObject({ rescued: 1 });
    expect(await a.world.tryAdvance("r", { next: end("completed") })).toEqual({ kind: "fenced" });
  });
});

describe("a heartbeat whose answer is lost", () => {
  test("counts or does not, and neither is taken for a loss of the store", async () => {
    const { nodes, rows } = await open({ clock: "manual" });
    const [{ world, wire }] = nodes;
    const reports: unknown[] = [];
    world.store.shared!.history!.subscribe((report) => reports.push(report));
    await world.store.heartbeat("w1", termMs);
    for (const fate of ["lost", "cut"] as const) {
      const met = wire.next(commit, fate);
      await world.store.heartbeat("w1", termMs);
      await met;
    }
    await world.store.heartbeat("w1", termMs);
    expect(reports).toEqual([]);
    expect(await rows("select counter::int from .heartbeats")).toEqual([{ counter: 5 }]);
  });

  test("hides no loss: the row that is older stays as it is until the finding is answered", async () => {
    const { nodes, rows, clock } = await open({ clock: "manual" });
    const [{ world, wire }] = nodes;
    const reports: unknown[] = [];
    world.store.shared!.history!.subscribe((report) => reports.push(report));
    const { now: survivedAt } = await world.store.heartbeat("w1", termMs);
    clock.advance(100);
    const { now: acknowledgedAt } = await world.store.heartbeat("w1", termMs);
    await rows("update .heartbeats set counter = 1, at = $1", survivedAt);
    const met = wire.next(commit, "lost");
    await world.store.heartbeat("w1", termMs);
    await met;
    await world.store.heartbeat("w1", termMs);
    expect(reports).toMatchObject([{ kind: "rollback", rollback: { survivedAt, acknowledgedAt } }]);
  });
});
