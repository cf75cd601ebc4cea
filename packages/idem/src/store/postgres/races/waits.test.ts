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
import { type Cluster, commit, upTo, useServer } from "./world.suite.ts";

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

/** Statements by which a node looks again for what its waits missed. */
const isLookingAgain =
  /select id, .* from \S*wait_checks|pg_stat_activity|delete from \S*wait_checks|from \S*wait_checks c/s;

/** Resolves once no wait is left that something may have missed. */
async function checked({ rows }: Cluster): Promise<void> {
  while ((await rows("select 1 from .wait_checks")).length > 0);
}

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

  test("that is committed after an event that arrived while it began is delivered that event", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    // Its name is known: the first wait for a name begins only after a transaction that says so.
    await a.world.startWaiting("before", [eventWait("w")]);
    await a.world.store.cancel({ env, runId: "before", result: "null", releaseKey: false, ingest: null });
    await a.world.startLeased("r");
    const held = a.wire.hold(commit);
    const waiting = a.world.advance("r", { waits: [eventWait("w")], next: forever });
    await held.reached;
    await shipped(b.world, "during");
    held.release();
    await waiting;
    await checked(cluster);
    const { jobs } = await b.world.lease("w2");
    expect(jobs).toMatchObject([{ kind: "deliver", event: { id: "during" } }]);
    const delivery = { env, jobId: jobs[0]!.jobId, fence: jobs[0]!.fence, outcome: value("during") };
    expect(await candidates(b.world, "during")).toEqual(["r"]);
    expect(await b.world.store.resume({ ...delivery, waits: [{ runId: "r", stepId: "w" }] })).toMatchObject({
      kind: "resumed",
      woken: [{ runId: "r" }],
    });
  });

  test("whose node died before it looked for what it missed is delivered the event by another node's maintenance", async () => {
    const cluster = await open({ clock: "manual" });
    const [a, b] = cluster.nodes;
    await a.world.startWaiting("first", [eventWait("w")]);
    await a.world.startLeased("r");
    const held = a.wire.hold(commit);
    const waiting = a.world.advance("r", { waits: [eventWait("w")], next: forever });
    await held.reached;
    cluster.clock.advance(1);
    await b.world.ingest([newEvent("during", { name: "order/shipped" })], []);
    const lost = a.wire.next(isLookingAgain, "cut");
    held.release();
    await waiting;
    await lost;
    await a.close();
    await cluster.rows("delete from .jobs where kind = 'deliver'");
    cluster.clock.advance(30_001);
    await b.world.store.sweep({ max: 10, repair: false });
    await checked(cluster);
    expect(await cluster.rows("select event_id from .jobs where kind = 'deliver'")).toEqual([{ event_id: "during" }]);
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

describe("stopped at every statement, a wait and what it waits for", () => {
  interface Sides {
    /** What the first node does for the n-th try, and the second. */
    readonly waits: (world: World, n: number) => Promise<unknown>;
    readonly arrives: (world: World, n: number) => Promise<unknown>;
    readonly prepare?: (first: World, second: World, n: number) => Promise<unknown>;
  }

  /** Stops one side before each of its statements in turn, lets the other one run until it is done or waits for a lock, and releases it. */
  async function stopEverywhere(cluster: Cluster, { waits, arrives, prepare }: Sides): Promise<number> {
    const [a, b] = cluster.nodes;
    let n = 0;
    for (const isWaitStopped of [true, false]) {
      for (let at = 0, isOver = false; !isOver; at++, n++) {
        await prepare?.(a.world, b.world, n);
        const held = (isWaitStopped ? a : b).wire.holdNth(at, (sql) => !isLookingAgain.test(sql));
        const stopped = isWaitStopped ? waits(a.world, n) : arrives(b.world, n);
        const over = stopped.catch(() => {});
        await Promise.race([held.reached, over]);
        const other = isWaitStopped ? arrives(b.world, n) : waits(a.world, n);
        if (held.isReached) await cluster.untilWaiting(1, other);
        held.release();
        await Promise.all([stopped, other]);
        isOver = !held.isReached;
      }
    }
    await checked(cluster);
    return n;
  }

  /** Events later than waits that they are not delivered to, and how many are. */
  const deliveriesSql = (table: "waits" | "cancels") => `
    select count(*) filter (where isOwed and isDelivered)::int as delivered,
           coalesce(json_agg(event_id) filter (where isOwed and not isDelivered), '[]') as missed
      from (select e.id as event_id, e.stamp > w.stamp as isOwed,
                   exists (select 1 from .jobs j where j.kind = 'deliver' and j.event_id = e.id) as isDelivered
              from .${table} w join .events e on e.env = w.env and e.name = w.event_name) as each`;

  interface Deliveries {
    readonly delivered: number;
    readonly missed: readonly string[];
  }

  const wait = (n: number) => eventWait("w", { eventName: `shipped/${n}` });
  const ship = (world: World, n: number) => world.ingest([newEvent(`e${n}`, { name: `shipped/${n}` })], []);
  const lease = (first: World, _: World, n: number) => first.startLeased(`r${n}`);
  const watched = async (first: World, _: World, n: number) => {
    await first.startWaiting(`before${n}`, [wait(n)]);
    await first.store.cancel({ env, runId: `before${n}`, result: "null", releaseKey: false, ingest: null });
    await first.startLeased(`r${n}`);
  };

  test.each([
    ["an event, and the first wait ever for its name", lease, {}],
    ["an event", watched, {}],
    ["an event, beside a step that ends", watched, { steps: [newStep("s")] }],
  ] as const)("%s: every event later than the wait is delivered", async (_, prepare, more) => {
    const cluster = await open();
    const tries = await stopEverywhere(cluster, {
      prepare,
      waits: (world, n) => world.advance(`r${n}`, { ...more, waits: [wait(n)], next: forever }),
      arrives: ship,
    });
    const [{ delivered, missed }] = (await cluster.rows(deliveriesSql("waits"))) as [
      { delivered: number; missed: string[] },
    ];
    expect(missed).toEqual([]);
    // Each node stamps by its own reading of the server's clock, so how many events are later than their wait depends on the machine's load.
    expect(delivered).toBeGreaterThan(0);
    expect(tries).toBeGreaterThan(8);
  });

  test("an event that cancels runs: every one later than the run's start is delivered", async () => {
    const cluster = await open();
    const start = (world: World, runId: string, n: number) => {
      const cancelOn = [{ eventName: `shipped/${n}`, path: "", value: "", rest: null, lastsMs: null }];
      return world.ingest([newEvent(`of ${runId}`)], [startPair(runId, { flow: startFlow({ cancelOn }) })]);
    };
    await stopEverywhere(cluster, {
      prepare: async (first, _, n) => {
        await start(first, `before${n}`, n);
        await first.store.cancel({ env, runId: `before${n}`, result: "null", releaseKey: false, ingest: null });
      },
      waits: (world, n) => start(world, `r${n}`, n),
      arrives: ship,
    });
    const [deliveries] = await cluster.rows<Deliveries>(deliveriesSql("cancels"));
    expect(deliveries).toMatchObject({ missed: [] });
    expect(deliveries!.delivered).toBeGreaterThan(0);
  });

  test("the end of a run that is announced: every one later than the wait is stored and delivered", async () => {
    const cluster = await open();
    const nameOf = (n: number) => `inngest/function.${n}`;
    const waitFor = (n: number) => eventWait("w", { eventName: nameOf(n) });
    const ended = new Map<number, number>();
    await stopEverywhere(cluster, {
      prepare: async (first, second, n) => {
        await first.startWaiting(`before${n}`, [waitFor(n)]);
        await first.store.cancel({ env, runId: `before${n}`, result: "null", releaseKey: false, ingest: null });
        await first.startLeased(`r${n}`);
        await second.startLeased(`end${n}`);
      },
      waits: (world, n) => world.advance(`r${n}`, { waits: [waitFor(n)], next: forever }),
      arrives: async (world, n) => {
        const event = { ...newEvent(`e${n}`, { name: nameOf(n) }), ifAwaited: true };
        const ingest = { registration: null, events: [event], pairs: [] };
        ended.set(n, (await world.advance(`end${n}`, { ingest, next: end("completed") })).now);
      },
    });
    const waits = await cluster.rows<{ run_id: string; started_at: string }>("select run_id, started_at from .waits");
    const began = new Map(waits.map(({ run_id, started_at }) => [run_id, Number(started_at)]));
    const jobs = await cluster.rows<{ event_id: string }>("select event_id from .jobs where kind = 'deliver'");
    const delivered = new Set(jobs.map(({ event_id }) => event_id));
    const later = [...ended].filter(([n, at]) => at > began.get(`r${n}`)!).map(([n]) => `e${n}`);
    expect(later.filter((id) => !delivered.has(id))).toEqual([]);
    expect(delivered.size).toBeGreaterThan(0);
  });

  test("a signal: one that comes after the wait was written resumes the run", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    await a.world.startLeased("r");
    const held = a.wire.hold(commit);
    const waiting = a.world.advance("r", { waits: [signalWait("w", "sig")], next: forever });
    await held.reached;
    const signalled = b.world.store.signal(env, "sig", value(1));
    await cluster.untilWaiting(1, signalled);
    held.release();
    await waiting;
    expect(await signalled).toMatchObject({ kind: "resumed", woken: { runId: "r" } });
  });

  test("a signal: the run has its value, or the sender learns that no run waits", async () => {
    const cluster = await open();
    const answers = new Map<number, string>();
    await stopEverywhere(cluster, {
      prepare: lease,
      waits: (world, n) => world.advance(`r${n}`, { waits: [signalWait("w", `sig${n}`)], next: forever }),
      arrives: async (world, n) => {
        answers.set(n, (await world.store.signal(env, `sig${n}`, value(n))).kind);
      },
    });
    const waiting = new Set((await cluster.rows("select run_id from .waits")).map(({ run_id }) => run_id));
    for (const [n, kind] of answers)
      expect([n, kind, waiting.has(`r${n}`)]).toEqual([n, kind, kind === "nobody-waits"]);
    expect(new Set(answers.values())).toEqual(new Set(["nobody-waits", "resumed"]));
  });

  test("the end of an invoked run: the run that waits for it has its result", async () => {
    const cluster = await open();
    const tries = await stopEverywhere(cluster, {
      prepare: async (first, second, n) => {
        await second.startLeased(`child${n}`, { key: `"k${n}"` });
        await first.startLeased(`r${n}`);
      },
      waits: (world, n) =>
        world.advance(`r${n}`, {
          ingest: {
            registration: null,
            events: [newEvent(`call${n}`)],
            pairs: [startPair(`x${n}`, { key: `"k${n}"` })],
          },
          waits: [runWait("w")],
          next: forever,
        }),
      arrives: (world, n) => world.advance(`child${n}`, { next: end("completed", String(n)) }),
    });
    for (const n of upTo(tries)) {
      expect(await cluster.nodes[0].world.outcome(`r${n}`, "w")).toEqual({ kind: "value", json: String(n) });
    }
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
