// Two nodes ask for the same keys. The first one that commits has it, on whichever node, and nobody waits in a circle.
import { describe, expect, test } from "vitest";
import type { NestedIngest } from "../../advance.ts";
import { decidedPair, end, env, fn, laneOf, newEvent, startFlow, startPair, type World } from "../../contract/world.ts";
import type { StartPair } from "../../ingest.ts";
import { type Cluster, commit, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

const kinds = (decisions: readonly { readonly kind: string }[]) => decisions.map(({ kind }) => kind).sort();
const errorsOf = ({ nodes }: Cluster) => nodes.flatMap(({ wire }) => wire.errors);

describe("a caller's id", () => {
  test("that two nodes receive at once starts one run, and the other is told of it", async () => {
    const { nodes } = await open();
    for (const n of upTo(12)) {
      const decisions = await Promise.all(
        nodes.map(({ world }, side) => world.start(`r${n}-${side}`, {}, { callerId: `id${n}` })),
      );
      expect(kinds(decisions)).toEqual(["duplicate-event", "started"]);
      expect(new Set(decisions.map(({ runId }) => runId)).size).toBe(1);
      expect(await nodes[0].world.claimOf(`id${n}`, "event")).toMatchObject({ asked: 2 });
    }
  });

  test("twice in one call of each of two nodes starts one run", async () => {
    const { nodes, rows } = await open();
    for (const n of upTo(10)) {
      const answers = await Promise.all(
        nodes.map(({ world }, side) =>
          world.ingest(
            [1, 2].map((i) => newEvent(`e${n}-${side}-${i}`, { callerId: `id${n}` })),
            [0, 1].map((event) => startPair(`r${n}-${side}-${event}`, { event })),
          ),
        ),
      );
      const decisions = answers.flatMap((answer) => answer.decisions);
      expect(kinds(decisions)).toEqual(["duplicate-event", "duplicate-event", "duplicate-event", "started"]);
    }
    expect(await rows("select count(*)::int as runs from .runs")).toEqual([{ runs: 10 }]);
  });

  test("whose first asker never heard of its commit is still its own, and counted once", async () => {
    const { nodes, rows } = await open();
    const [a, b] = nodes;
    const lost = a.wire.next(commit, "lost");
    const first = a.world.start("r1", { leaseTo: "w1" }, { callerId: "id" });
    await lost;
    const [second, answer] = await Promise.all([b.world.start("r2", {}, { callerId: "id" }), first]);
    expect(answer).toMatchObject({ kind: "started", runId: "r1" });
    expect(second).toMatchObject({ kind: "duplicate-event", runId: "r1" });
    expect(await a.world.claimOf("id", "event")).toMatchObject({ holder: "event of r1", asked: 2 });
    expect(await rows("select id from .runs")).toEqual([{ id: "r1" }]);
  });
});

describe("keys asked for in any order", () => {
  test("by two nodes in opposite orders, three hundred times: no deadlock", async () => {
    const cluster = await open();
    const round = (n: number) =>
      Promise.all(
        [
          ["a", "b"],
          ["b", "a"],
        ].map((keys, side) =>
          cluster.nodes[side]!.world.ingest(
            keys.map((key) => newEvent(`e${n}-${side}-${key}`, { callerId: `${key}${n}` })),
            keys.map((key, event) => startPair(`r${n}-${side}-${key}`, { event, key: `"${key}${n % 50}"` })),
          ),
        ),
      );
    await Promise.all(
      upTo(3).map(async (part) => {
        for (const n of upTo(100)) await round(part * 100 + n);
      }),
    );
    expect(errorsOf(cluster)).toEqual([]);
    expect(await cluster.countDeadlocks()).toBe(0);
  });

  // What a start may have to pass, each under a key of its own.
  const passes: Readonly<Record<string, (key: string) => Partial<StartPair>>> = {
    "shop-singleton": (key) => ({ flow: startFlow({ singleton: { key, mode: "cancel", result: "{}" } }) }),
    "shop-skipping": (key) => ({ flow: startFlow({ singleton: { key, mode: "skip" } }) }),
    "shop-rated": (key) => ({ flow: startFlow({ rateLimit: { id: key, limit: 1, periodMs: 1_000 } }) }),
    "shop-limited": (key) => ({ leaseTo: "w1", flow: startFlow({ lane: laneOf({ [key]: 1 }) }) }),
    "shop-throttled": (key) => ({
      leaseTo: "w1",
      flow: startFlow({ lane: laneOf({}, { throttle: [key, { limit: 1, periodMs: 1_000, burst: 1 }] }) }),
    }),
    "shop-debounced": (key) => ({
      flow: startFlow({ buffer: { kind: "debounce", key, periodMs: 1_000, timeoutMs: null } }),
    }),
    "shop-batched": (key) => ({
      key: `"${key}"`,
      flow: startFlow({ buffer: { kind: "batch", key, maxSize: 2, timeoutMs: 1_000, bytesMax: 1_000 } }),
    }),
  };

  test("and limits, singletons and buffers of every kind: no deadlock", async () => {
    const cluster = await open();
    for (const n of upTo(15)) {
      await Promise.all(
        [
          ["a", "b"],
          ["b", "a"],
        ].map((keys, side) =>
          cluster.nodes[side]!.world.ingest(
            keys.map((key) => newEvent(`e${n}-${side}-${key}`)),
            keys.flatMap((key, event) =>
              Object.entries(passes).map(([of, pass]) =>
                startPair(`r${n}-${side}-${key}-${of}`, { event, fn: of, ...pass(`${key}${n % 5}`) }),
              ),
            ),
          ),
        ),
      );
    }
    expect(errorsOf(cluster)).toEqual([]);
    expect(await cluster.countDeadlocks()).toBe(0);
  });

  test("by calls too large to share a commit: no deadlock", async () => {
    const cluster = await open();
    const keys = upTo(110).map((n) => `"k${n}"`);
    for (const n of upTo(2)) {
      await Promise.all(
        [keys, [...keys].reverse()].map((inOrder, side) =>
          cluster.nodes[side]!.world.ingest(
            inOrder.map((key) => newEvent(`e${n}-${side}-${key}`)),
            inOrder.map((key, event) => startPair(`r${n}-${side}-${key}`, { event, key: `${n}${key}` })),
          ),
        ),
      );
    }
    expect(errorsOf(cluster)).toEqual([]);
    expect(await cluster.rows("select count(*)::int as runs from .runs")).toEqual([{ runs: 220 }]);
    expect(await cluster.countDeadlocks()).toBe(0);
  });

  test("by runs that send what others are starting, with their steps and with their ends: no deadlock", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    const singleton = (key: string) => startFlow({ singleton: { key, mode: "cancel", result: "{}" } });
    for (const n of upTo(12)) {
      const start = (runId: string, s: string, k: string): StartPair =>
        startPair(runId, { key: `"${k}${n}"`, hold: true, flow: singleton(`${s}${n}`), leaseTo: "w1" });
      await a.world.ingest([newEvent(`e${n}`)], [start(`r${n}`, "s", "x")]);
      const send = (name: string, ...pairs: StartPair[]): NestedIngest => ({
        registration: null,
        events: pairs.map((_, i) => newEvent(`${name}${n}-${i}`)),
        pairs: pairs.map((pair, event) => ({ ...pair, event, leaseTo: null })),
      });
      // It sends what replaces it, and ends; meanwhile somebody else replaces it, too.
      await Promise.all([
        a.world.tryAdvance(`r${n}`, { ingest: send("sent", start(`q${n}`, "s", "y"), start(`p${n}`, "t", "z")) }),
        a.world.tryAdvance(`r${n}`, { next: end("completed"), ingest: send("end", start(`o${n}`, "t", "y")) }),
        b.world.ingest(
          [newEvent(`f${n}`), newEvent(`g${n}`)],
          [start(`m${n}`, "t", "z"), { ...start(`l${n}`, "s", "x"), event: 1 }],
        ),
      ]);
    }
    expect(errorsOf(cluster)).toEqual([]);
    expect(await cluster.countDeadlocks()).toBe(0);
  });

  test("by the end of a singleton run that holds its key, and by the event that replaces it: no deadlock", async () => {
    const cluster = await open();
    const [a, b] = cluster.nodes;
    const flow = (n: number) =>
      startFlow({ singleton: { key: `s${n}`, mode: "cancel", result: "{}", releaseKey: true } });
    for (const n of upTo(20)) {
      await a.world.startLeased(`r${n}`, { key: `"k${n}"`, hold: true, flow: flow(n) });
      const [ended] = await Promise.all([
        a.world.tryAdvance(`r${n}`, { next: end("completed") }),
        b.world.start(`q${n}`, { key: `"m${n}"`, hold: true, flow: flow(n) }),
      ]);
      expect(["advanced", "ended"]).toContain(ended.kind);
    }
    expect(errorsOf(cluster)).toEqual([]);
    const open1 = await cluster.rows("select count(*)::int as open from .runs where ended_state is null");
    expect(open1).toEqual([{ open: 20 }]);
    expect(await cluster.countDeadlocks()).toBe(0);
  });
});

describe("a window", () => {
  test("that ends now is taken by one of eight who ask two nodes; a millisecond before, by none", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const askAll = (name: string) =>
      Promise.all(upTo(8).map((n) => nodes[n % 2]!.world.start(`${name}-${n}`, { key: '"k"', windowMs: 1_000 })));
    await nodes[0].world.start("first", { key: '"k"', windowMs: 1_000 });
    let { generation } = await nodes[0].world.claimOf('"k"');
    for (const n of upTo(5)) {
      clock.advance(999);
      expect(kinds(await askAll(`early${n}`))).toEqual(Array(8).fill("duplicate-key"));
      clock.advance(1);
      const decisions = await askAll(`now${n}`);
      const winner = decisions.filter(({ kind }) => kind === "started");
      expect(winner).toHaveLength(1);
      const claim = await nodes[1].world.claimOf('"k"');
      expect(claim).toMatchObject({ generation: winner[0]!.runId, holder: winner[0]!.runId, asked: 8 });
      expect(claim.generation).not.toBe(generation);
      generation = claim.generation;
    }
  });

  test("that ended while somebody waited for the key is judged by when each of them asked", async () => {
    const { nodes, clock, begin, untilWaiting } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await a.world.start("first", { key: '"k"', windowMs: 1_000 });
    clock.advance(999);
    const outsider = await begin();
    await outsider.query("select 1 from .claims for update");
    const early = a.world.start("early", { key: '"k"', windowMs: 1_000 });
    await untilWaiting(1);
    clock.advance(1);
    const late = b.world.start("late", { key: '"k"', windowMs: 1_000 });
    await untilWaiting(2);
    await outsider.end();
    expect(await early).toMatchObject({ kind: "duplicate-key", runId: "first" });
    expect(await late).toMatchObject({ kind: "started", runId: "late" });
  });

  test("reaped or not has another generation after its end, and the same after a release", async () => {
    const { nodes, clock } = await open({ clock: "manual" });
    const [a, b] = nodes;
    const start = (world: World, runId: string) => world.start(runId, { key: '"k"', windowMs: 1_000 });
    await start(a.world, "r1");
    await b.world.releaseByHand('"k"');
    await start(b.world, "r2");
    clock.advance(1_000);
    expect(await b.world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 1 });
    await start(a.world, "r3");
    const generations = await Promise.all(["r1", "r2", "r3"].map(async (id) => (await a.world.run(id)).generation));
    expect(generations).toEqual(["r1", "r1", "r3"]);
  });

  test("that is reaped by one node while another takes it anew stays taken", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual" });
    const [a, b] = nodes;
    for (const n of upTo(15)) {
      clock.advance(1_000);
      const [decision] = await Promise.all([
        a.world.start(`r${n}`, { key: '"k"', windowMs: 1_000 }),
        b.world.store.sweep({ max: 10, repair: false }),
      ]);
      expect(decision).toMatchObject({ kind: "started" });
      expect(await rows("select holder, asked::int from .claims")).toEqual([{ holder: `r${n}`, asked: 1 }]);
    }
  });
});

describe("what starts nothing", () => {
  test("leaves no claim and no buffer, whatever stood in its way and whoever asked beside it", async () => {
    const { nodes, rows } = await open();
    const [a, b] = nodes;
    const over: Partial<StartPair>[] = [
      { flow: startFlow({ rateLimit: { id: "r", limit: 1, periodMs: 60_000 } }) },
      { flow: startFlow({ singleton: { key: "s", mode: "skip" } }) },
      { flow: startFlow({ buffer: { kind: "debounce", key: "d", periodMs: 60_000, timeoutMs: null } }) },
      {
        flow: startFlow({ buffer: { kind: "batch", key: "b", maxSize: 100, timeoutMs: 60_000, bytesMax: 1_000_000 } }),
      },
    ];
    const decisions = await Promise.all(
      upTo(24).map((n) => {
        const { world } = nodes[n % 2]!;
        return world.start(`r${n}`, { fn: `fn${n % 4}`, key: `"k${n}"`, ...over[n % 4] });
      }),
    );
    await a.world.ingest([newEvent("paused")], [decidedPair({ kind: "paused", reason: "it is paused" })]);
    // A duplicate into a buffer that is not there yet.
    const buffer = { kind: "debounce", key: "other", periodMs: 60_000, timeoutMs: null } as const;
    await a.world.start("first", { fn: "fn9" }, { callerId: "id" });
    await b.world.start("again", { key: '"k"', flow: startFlow({ buffer }) }, { callerId: "id" });
    const started = decisions
      .filter(({ kind }) => kind === "started")
      .map(({ key, runId }) => ({ key, holder: runId }));
    expect(started).toHaveLength(2);
    const claims = await rows("select key, holder from .claims where scope like 'fn:%' order by key");
    expect(claims).toEqual(started.sort((x, y) => (x.key! < y.key! ? -1 : 1)));
    expect(await rows("select key from .buffers order by key")).toEqual([{ key: "b" }, { key: "d" }]);
  });
});

describe("environments", () => {
  test("two of them with the same ids in everything never meet, asked by two nodes at once", async () => {
    const { nodes, rows } = await open();
    const singleton = startFlow({
      singleton: { key: "s", mode: "skip" },
      rateLimit: { id: "r", limit: 1, periodMs: 60_000 },
    });
    const answers = await Promise.all(
      ["x", "y"].flatMap((of) =>
        nodes.map(({ world }) =>
          world.ingest(
            [newEvent("e1", { callerId: "id" })],
            [startPair("r1", { key: '"k"', flow: singleton, leaseTo: "w1" })],
            { env: of },
          ),
        ),
      ),
    );
    expect(answers.map(({ decisions }) => decisions.map(({ kind, runId }) => `${kind} ${runId}`))).toEqual(
      Array(4).fill(["started r1"]),
    );
    for (const table of ["events", "runs", "jobs"]) {
      expect(await rows(`select env, id from .${table} order by env`)).toEqual([
        { env: "x", id: table === "events" ? "e1" : "r1" },
        { env: "y", id: table === "events" ? "e1" : "r1" },
      ]);
    }
    const claims = await rows("select env, scope, asked::int from .claims order by env, scope");
    expect(claims).toEqual(
      ["x", "y"].flatMap((of) =>
        ["event", `fn:${fn}`, `singleton:${fn}`].map((scope) => ({ env: of, scope, asked: 1 })),
      ),
    );
    const [a, b] = nodes;
    const ended = await Promise.all(
      [a, b].map(({ world }, n) => world.tryAdvance("r1", { env: ["x", "y"][n]!, next: end("completed") })),
    );
    expect(ended.map(({ kind }) => kind)).toEqual(["advanced", "advanced"]);
    expect(await a.world.store.reads.runs(env, { limit: 10 })).toEqual([]);
  });
});
