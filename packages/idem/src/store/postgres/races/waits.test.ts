// A wait ends once, whoever brings its end; and what comes after it began never passes it by, whichever nodes the two are on.
import { describe, expect, test } from "vitest";
import {
  end,
  env,
  eventWait,
  failure,
  forever,
  newAttempt,
  newEvent,
  newStep,
  runJob,
  runWait,
  signalWait,
  startFlow,
  startPair,
  value,
  type World,
} from "../../contract/world.ts";
import { commit, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const shipped = (world: World, id: string, leaseTo: string | null = "w2") =>
  world.ingest([newEvent(id, { name: "order/shipped" })], [], { leaseTo });
const resume = (world: World, eventId: string, runId: string, fence = 1) =>
  world.store.resume({
    env,
    jobId: `deliver:${eventId}`,
    fence,
    waits: [{ runId, stepId: "w" }],
    outcome: value(eventId),
  });
const candidates = async (world: World, eventId: string) =>
  (await world.store.reads.waitCandidates(env, eventId, [])).map(({ runId }) => runId);

describe("a wait for an event", () => {
  test("that runs out as its event is delivered has one outcome, and the run is taken up once", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual" });
    const [a, b] = nodes;
    for (const n of upTo(8)) {
      const runId = `r${n}`;
      await a.world.startWaiting(runId, [eventWait("w", { timeoutAt: clock.wallMs() + 10 })]);
      clock.advance(9);
      await shipped(b.world, `e${n}`);
      clock.advance(1);
      const resuming = n % 2 === 0 ? resume(b.world, `e${n}`, runId) : null;
      const first = await a.world.lease("w1");
      await (resuming ?? resume(b.world, `e${n}`, runId));
      const jobs = first.jobs.length > 0 ? first.jobs : (await a.world.lease("w1")).jobs;
      expect(jobs).toHaveLength(1);
      const { memo, fence } = runJob(jobs[0]);
      expect(memo.steps).toHaveLength(1);
      expect(memo.waits).toEqual([]);
      await a.world.advance(runId, { fence, next: end("completed") });
    }
    expect(await rows("select 1 from .waits union all select 1 from .jobs")).toEqual([]);
  });

  test("ends by one of two events that two nodes deliver at once", async () => {
    const { nodes, rows } = await open();
    const [a, b] = nodes;
    for (const n of upTo(6)) {
      const runId = `r${n}`;
      await a.world.startWaiting(runId, [eventWait("w")]);
      const ids = [`e${n}-1`, `e${n}-2`];
      await Promise.all(ids.map((id, side) => shipped(nodes[side]!.world, id)));
      const answers = await Promise.all(ids.map((id, side) => resume(nodes[side]!.world, id, runId)));
      const woken = answers.flatMap((answer) => (answer.kind === "resumed" ? answer.woken : []));
      expect(woken).toEqual([{ runId, fn: "shop-bill", leasedBy: null }]);
      expect(ids.map((id) => JSON.stringify(id))).toContain((await b.world.outcome(runId, "w"))!.json);
      await b.world.store.cancel({ env, runId, result: "null", releaseKey: false, ingest: null });
    }
    expect(await rows("select 1 from .waits")).toEqual([]);
  });

  test("counts every event that comes after it began, on whichever node, however soon", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    for (const n of upTo(15)) {
      const [waits, receives] = n % 2 === 0 ? [a, b] : [b, a];
      await shipped(receives.world, `before${n}`);
      await waits.world.startWaiting(`r${n}`, [eventWait("w")]);
      await shipped(receives.world, `after${n}`);
      expect(await candidates(receives.world, `before${n}`)).not.toContain(`r${n}`);
      expect(await candidates(receives.world, `after${n}`)).toContain(`r${n}`);
    }
  });

  test("that is not yet committed is not there for an event, nor the event for it", async () => {
    const { nodes, rows } = await open();
    const [a, b] = nodes;
    await a.world.startLeased("r");
    const held = a.wire.hold(commit);
    const waiting = a.world.advance("r", { waits: [eventWait("w")], next: forever });
    await held.reached;
    await shipped(b.world, "during");
    held.release();
    await waiting;
    expect(await rows("select 1 from .jobs where kind = 'deliver'")).toEqual([]);
    await shipped(b.world, "after", null);
    const { jobs } = await b.world.lease("w2");
    expect(jobs).toMatchObject([{ kind: "deliver", event: { id: "after" } }]);
    expect(await resume(b.world, "after", "r", jobs[0]!.fence)).toMatchObject({
      kind: "resumed",
      woken: [{ runId: "r" }],
    });
  });

  test("whose event comes as its run is given back beside others is news to it", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    const runs = upTo(5).map((n) => `r${n}`);
    for (const runId of runs) {
      await a.world.startLeased(runId);
      await a.world.advance(runId, { waits: [eventWait("w")] });
    }
    await shipped(b.world, "e");
    const held = b.wire.hold(commit);
    const resuming = resume(b.world, "e", "r2");
    await held.reached;
    const givenBack = runs.map((runId) => a.world.advance(runId, { waits: [eventWait("other")], next: forever }));
    held.release();
    expect(await resuming).toMatchObject({ kind: "resumed", woken: [{ runId: "r2" }] });
    const answers = await Promise.all(givenBack);
    expect(answers.map(({ leased, news }) => [leased, news.length])).toEqual(
      runs.map((runId) => (runId === "r2" ? [true, 1] : [false, 0])),
    );
  });

  test("is resumed by another node when the one that received the event died before delivering it", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await a.world.startWaiting("r", [eventWait("w")]);
    clock.advance(1);
    await b.world.store.heartbeat("dead", 1_000);
    const { leased } = await shipped(b.world, "e", "dead");
    expect(leased).toHaveLength(1);
    await b.close();
    clock.advance(1_001);
    expect(await a.world.store.sweep({ max: 10, repair: false })).toMatchObject({ rescued: 1, queued: true });
    const [job] = (await a.world.lease("w1")).jobs;
    expect(job).toMatchObject({ kind: "deliver", jobId: "deliver:e", fence: 3 });
    expect(await candidates(a.world, "e")).toEqual(["r"]);
    expect(await resume(a.world, "e", "r", 3)).toMatchObject({ kind: "resumed", woken: [{ runId: "r" }] });
    expect(runJob((await a.world.lease("w1")).jobs[0]).memo.steps).toMatchObject([{ stepId: "w" }]);
  });
});

describe("a cancelling event", () => {
  test("sent in the same call as what it cancels, behind it: it counts", async () => {
    const { nodes } = await open();
    const [a] = nodes;
    const cancelOn = [{ eventName: "stop", path: "", value: "", rest: null, lastsMs: null }];
    const events = [newEvent("early", { name: "stop" }), newEvent("e"), newEvent("late", { name: "stop" })];
    await a.world.ingest(events, [startPair("r", { event: 1, flow: startFlow({ cancelOn }) })]);
    const found = async (id: string) =>
      (await a.world.store.reads.cancelCandidates(env, id, [])).map(({ runId }) => runId);
    expect(await found("early")).toEqual([]);
    expect(await found("late")).toEqual(["r"]);
    expect((await a.world.lease("w1")).jobs.map(({ jobId }) => jobId)).toContain("deliver:late");
  });
});

describe("a signal", () => {
  const registers = (runId: string, onTaken: "replace" | ReturnType<typeof failure>) => (world: World) =>
    world.advance(runId, { waits: [signalWait("w", "sig", { onTaken })], next: forever });

  test("that two runs begin to wait for at once is one's, and the other is refused", async () => {
    const { nodes, rows } = await open();
    for (const n of upTo(5)) {
      await Promise.all(nodes.map(({ world }, side) => world.startLeased(`r${n}-${side}`)));
      const answers = await Promise.all(
        nodes.map(({ world }, side) => registers(`r${n}-${side}`, failure("taken"))(world)),
      );
      expect(answers.map(({ leased }) => leased).sort()).toEqual([false, true]);
      const refused = answers.find(({ leased }) => leased)!;
      expect(refused.news).toMatchObject([{ stepId: "w", outcome: failure("taken") }]);
      const [a, b] = nodes;
      const signals = await Promise.all([a, b].map(({ world }) => world.store.signal(env, "sig", value(n))));
      expect(signals.map(({ kind }) => kind).sort()).toEqual(["nobody-waits", "resumed"]);
    }
    expect(await rows("select 1 from .waits")).toEqual([]);
  });

  test("that several take from each other at once is the last one's alone", async () => {
    const { nodes, rows } = await open({ nodes: 3 });
    for (const n of upTo(5)) {
      await Promise.all(nodes.map(({ world }, side) => world.startLeased(`r${n}-${side}`)));
      await Promise.all(nodes.map(({ world }, side) => registers(`r${n}-${side}`, "replace")(world)));
    }
    expect(await rows("select count(*)::int as waits, count(signal)::int as signals from .waits")).toEqual([
      { waits: 15, signals: 1 },
    ]);
  });
});

describe("an invoked run", () => {
  test("that ends as somebody begins to wait for it: the waiting run has its result, at once or as news", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    for (const n of upTo(9)) {
      await b.world.startLeased(`child${n}`, { key: `"k${n}"` });
      await a.world.startLeased(`parent${n}`);
      const invoke = () =>
        a.world.advance(`parent${n}`, {
          ingest: {
            registration: null,
            events: [newEvent(`call${n}`)],
            pairs: [startPair(`x${n}`, { key: `"k${n}"` })],
          },
          waits: [runWait("w")],
          next: forever,
        });
      const invoking = n % 3 === 0 ? invoke() : null;
      const ending = b.world.advance(`child${n}`, {
        // In one statement, and in a transaction.
        ...(n % 2 === 0 ? {} : { attempts: [newAttempt("t", 1)] }),
        next: end("completed", `"of ${n}"`),
      });
      await (invoking ?? invoke());
      await ending;
      expect(await a.world.outcome(`parent${n}`, "w")).toEqual({ kind: "value", json: `"of ${n}"` });
      expect((await a.world.memo(`parent${n}`)).waits).toEqual([]);
    }
  });

  test("that ends while its parent, which waits already, invokes it again: both steps have its result", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    for (const n of upTo(6)) {
      const nested = (id: string) => ({
        registration: null,
        events: [newEvent(`${id}${n}`)],
        pairs: [startPair(`${id}-x${n}`, { key: `"k${n}"` })],
      });
      await b.world.startLeased(`child${n}`, { key: `"k${n}"` });
      await a.world.startLeased(`parent${n}`);
      await a.world.advance(`parent${n}`, { ingest: nested("one"), waits: [runWait("w1")] });
      await Promise.all([
        a.world.advance(`parent${n}`, { ingest: nested("two"), waits: [runWait("w2")], steps: [newStep("s")] }),
        b.world.advance(`child${n}`, { next: end("completed", "1") }),
      ]);
      for (const stepId of ["w1", "w2"]) {
        expect(await a.world.outcome(`parent${n}`, stepId)).toEqual({ kind: "value", json: "1" });
      }
    }
    expect(nodes.flatMap(({ wire }) => wire.errors)).toEqual([]);
  });
});
