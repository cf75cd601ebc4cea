// One key that everybody requests. A duplicate costs a share of its call's statements, and does not wait for other duplicates.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../../model/window.ts";
import { end, env, newEvent, plainRerun, startFlow, startPair, type World } from "../../contract/world.ts";
import type { NewEvent, StartPair } from "../../ingest.ts";
import { commit, upTo, useServer, type Wire } from "./world.suite.ts";

const { open } = useServer();

const counting = /^\s*with given .*insert into \S*claims/s;

const reading = /^\s*select claim\.\*\s+from unnest/;

interface Hot {
  readonly event?: (n: number) => Partial<NewEvent>;
  readonly pair?: (n: number) => Partial<StartPair>;
}

// Notifications, and looks at how tables have grown, are sent whenever it suits.
const isAside = /pg_notify|pg_class|^analyze/;

const statementsIn = ({ counts }: Wire): number =>
  [...counts].reduce((sum, [sql, count]) => (isAside.test(sql) ? sum : sum + count), 0);

/** One call with so many events. */
const call = (world: World, name: string, count: number, { event, pair }: Hot) =>
  world.ingest(
    upTo(count).map((n) => newEvent(`${name}-e${n}`, event?.(n))),
    upTo(count).map((n) => startPair(`${name}-r${n}`, { event: n, ...pair?.(n) })),
  );

describe("a call with many duplicates", () => {
  const kinds: Readonly<Record<string, Hot & { readonly kind: string }>> = {
    "one function key": { kind: "duplicate-key", pair: () => ({ key: '"k"' }) },
    "one event id": { kind: "duplicate-event", event: () => ({ callerId: "id" }) },
    "one id of a webhook": { kind: "duplicate-event", event: () => ({ callerId: "id", idScope: "webhook" }) },
    "one id and one key": {
      kind: "duplicate-event",
      event: () => ({ callerId: "id" }),
      pair: () => ({ key: '"k"', hold: true }),
    },
    "one id, each with another key": {
      kind: "duplicate-event",
      event: () => ({ callerId: "id" }),
      pair: (n) => ({ key: `"k${n}"` }),
    },
    "one singleton": {
      kind: "singleton-skipped",
      pair: () => ({ flow: startFlow({ singleton: { key: "s", mode: "skip" } }) }),
    },
    "keys of their own": { kind: "duplicate-key", pair: (n) => ({ key: `"k${n}"` }) },
    "ids of their own": { kind: "duplicate-event", event: (n) => ({ callerId: `id${n}` }) },
  };

  test.each(Object.entries(kinds))("of %s sends as many statements with 500 of them as with 5", async (_, hot) => {
    const { nodes, rows } = await open();
    const [{ world, wire }] = nodes;
    await call(world, "first", 500, hot);
    const statementsOf = async (name: string, count: number): Promise<number> => {
      wire.counts.clear();
      const { decisions } = await call(world, name, count, hot);
      expect(new Set(decisions.map(({ kind }) => kind))).toEqual(new Set([hot.kind]));
      return statementsIn(wire);
    };
    const few = await statementsOf("few", 5);
    expect(await statementsOf("many", 500)).toBe(few);
    expect(few).toBeLessThanOrEqual(14);
    const decided = "select count(*)::int as count from .decisions where event_id like 'many-%' and kind = $1";
    expect(await rows(decided, hot.kind)).toEqual([{ count: 500 }]);
  });

  test.each(Object.entries(kinds).filter(([name]) => name.startsWith("one")))(
    "of %s that it takes itself sends as many statements with 500 of them as with 5",
    async (_, hot) => {
      const { nodes, rows } = await open();
      const [{ world, wire }] = nodes;
      const statementsOf = async (count: number): Promise<number> => {
        const own = `${count}`;
        const event = (n: number) => ({ ...hot.event?.(n), ...(hot.event === undefined ? {} : { callerId: own }) });
        const singleton = startFlow({ singleton: { key: own, mode: "skip" } });
        const pair = (n: number) => {
          const { key = null, flow = null, ...rest } = hot.pair?.(n) ?? {};
          return { ...rest, key: key === null ? null : own, flow: flow === null ? null : singleton };
        };
        wire.counts.clear();
        const { decisions } = await call(world, own, count, { event, pair });
        expect(decisions.filter(({ kind }) => kind === "started")).toHaveLength(1);
        expect(decisions.filter(({ kind }) => kind === hot.kind)).toHaveLength(count - 1);
        return statementsIn(wire);
      };
      const few = await statementsOf(5);
      expect(await statementsOf(500)).toBe(few);
      expect(await rows("select max(asked)::int as asked from .claims where key = '500'")).toEqual([{ asked: 500 }]);
    },
  );

  test("of one key answers each with the first run and the first event's data, and counts all of them", async () => {
    const { nodes } = await open();
    const [{ world }] = nodes;
    await world.start("first", { key: '"k"', leaseTo: "w1" }, { data: '{"total":1}' });
    const { decisions, firsts } = await call(world, "later", 200, { pair: () => ({ key: '"k"' }) });
    expect(new Set(decisions.map(({ runId, firstEventId }) => `${runId}, ${firstEventId}`))).toEqual(
      new Set(["first, event of first"]),
    );
    expect(firsts).toEqual([{ eventId: "event of first", data: '{"total":1}' }]);
    expect(await world.claimOf('"k"')).toMatchObject({ holder: "first", asked: 201 });
  });
});

describe("a duplicate", () => {
  const requests: Readonly<Record<string, (world: World, runId: string) => Promise<{ readonly kind: string }>>> = {
    "a function key": (world, runId) => world.start(runId, { key: '"k"' }),
    "an event id": (world, runId) => world.start(runId, {}, { callerId: '"k"' }),
    "a webhook's id": (world, runId) => world.start(runId, {}, { callerId: '"k"', idScope: "webhook" }),
    "a singleton": (world, runId) =>
      world.start(runId, { flow: startFlow({ singleton: { key: '"k"', mode: "skip" } }) }),
  };

  test.each(Object.entries(requests))("of %s does not wait for the commit of another one", async (_, request) => {
    const { nodes, rows } = await open();
    const [a, b] = nodes;
    await request(a.world, "first");
    const held = a.wire.hold(commit);
    const early = request(a.world, "early");
    await held.reached;
    // The early one has written its count, which the late one would write too.
    const late = await request(b.world, "late");
    expect(late.kind).toMatch(/duplicate|singleton-skipped/);
    expect(await rows("select asked::int from .claims")).toEqual([{ asked: 1 }]);
    held.release();
    expect((await early).kind).toBe(late.kind);
    expect(a.wire.errors).toEqual([]);
    // What a node could not count it counts at the latest when it is closed.
    await b.close();
    expect(await rows("select asked::int from .claims")).toEqual([{ asked: 3 }]);
  });

  test("that has been decided keeps nobody from the key, and is the duplicate of the run that had it", async () => {
    const { nodes, rows } = await open();
    const [a, b] = nodes;
    await a.world.start("first", { key: '"k"' });
    const held = a.wire.hold(counting);
    const duplicate = a.world.start("duplicate", { key: '"k"' });
    await held.reached;
    await b.world.releaseByHand('"k"');
    expect(await b.world.start("second", { key: '"k"' })).toMatchObject({ kind: "started", runId: "second" });
    held.release();
    expect(await duplicate).toMatchObject({ kind: "duplicate-key", runId: "first" });
    // A key that was released and taken again is in the same window, and so is its count.
    expect(await rows("select holder, asked::int from .claims")).toEqual([{ holder: "second", asked: 3 }]);
  });

  test("that comes while its key is being taken waits to see whether it is", async () => {
    const { nodes, untilWaiting } = await open();
    const [a, b] = nodes;
    const held = a.wire.hold(commit);
    const first = a.world.start("first", { key: '"k"' });
    await held.reached;
    const duplicate = b.world.start("duplicate", { key: '"k"' });
    await untilWaiting(1, duplicate);
    held.release();
    expect(await first).toMatchObject({ kind: "started" });
    expect(await duplicate).toMatchObject({ kind: "duplicate-key", runId: "first" });
    expect(await a.world.claimOf('"k"')).toMatchObject({ asked: 2 });
  });

  test.each([
    ["released", (world: World) => world.releaseByHand('"k"')],
    [
      "taken anew",
      async (world: World) => {
        await world.releaseByHand('"k"');
        await world.start("second", { key: '"k"' });
      },
    ],
    [
      "released and forgotten",
      async (world: World) => {
        await world.releaseByHand('"k"');
        world.clock.advance(dayMs);
        expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 1 });
      },
    ],
  ])(
    "whose key is %s after it was seen to be taken, and before it was read, is decided by what is there",
    async (what, change) => {
      const { nodes, rows } = await open({ clock: "manual" });
      const [a, b] = nodes;
      await a.world.start("first", { key: '"k"' });
      const held = a.wire.hold(reading);
      const request = a.world.start("request", { key: '"k"' });
      await held.reached;
      await change(b.world);
      held.release();
      const isTaken = what === "taken anew";
      expect(await request).toMatchObject(
        isTaken ? { kind: "duplicate-key", runId: "second" } : { kind: "started", runId: "request" },
      );
      const holder = isTaken ? "second" : "request";
      const asked = { released: 2, "taken anew": 3, "released and forgotten": 1 }[what];
      expect(await rows("select holder, asked::int from .claims")).toEqual([{ holder, asked }]);
    },
  );

  test("of a window that is taken anew meanwhile is not counted there", async () => {
    const { nodes, clock, rows } = await open({ clock: "manual" });
    const [a, b] = nodes;
    await a.world.start("first", { key: '"k"', windowMs: 1_000 });
    clock.advance(999);
    const held = a.wire.hold(counting);
    const duplicate = a.world.start("duplicate", { key: '"k"', windowMs: 1_000 });
    await held.reached;
    clock.advance(1);
    expect(await b.world.start("second", { key: '"k"', windowMs: 1_000 })).toMatchObject({ kind: "started" });
    held.release();
    expect(await duplicate).toMatchObject({ kind: "duplicate-key", runId: "first" });
    await a.close();
    expect(await rows("select holder, asked::int from .claims")).toEqual([{ holder: "second", asked: 1 }]);
  });

  test("of a held key is decided while its run ends, and the key is free afterwards", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    await a.world.startLeased("first", { key: '"k"', windowMs: 1, hold: true });
    const held = a.wire.hold(counting);
    const duplicate = a.world.start("duplicate", { key: '"k"', windowMs: 1, hold: true });
    await held.reached;
    await b.world.advance("first", { next: end("completed") });
    held.release();
    expect(await duplicate).toMatchObject({ kind: "duplicate-key", runId: "first" });
    expect(await b.world.start("second", { key: '"k"', windowMs: 1, hold: true })).toMatchObject({ kind: "started" });
  });

  test("in the call of an event that cancels the run which has the key, and releases it, takes the key", async () => {
    const { nodes } = await open();
    const [{ world }] = nodes;
    const cancel = { key: "s", mode: "cancel", result: "{}", releaseKey: true } as const;
    const flow = startFlow({ singleton: cancel });
    await world.start("first", { key: '"k"', flow });
    const { decisions } = await world.ingest(
      [newEvent("e1"), newEvent("e2"), newEvent("e3")],
      [
        startPair("same", { event: 0, key: '"k"' }),
        startPair("other", { event: 1, key: '"other"', flow }),
        startPair("again", { event: 2, key: '"k"' }),
      ],
    );
    expect(decisions.map(({ kind, runId }) => `${kind} ${runId}`)).toEqual([
      "duplicate-key first",
      "started other",
      "started again",
    ]);
  });

  test("that a run sends does not wait for that of another run", async () => {
    const { nodes } = await open();
    const [a, b] = nodes;
    await a.world.start("first", {}, { callerId: "id" });
    for (const runId of ["r1", "r2"]) await a.world.startLeased(runId);
    const send = (world: World, runId: string) =>
      world.advance(runId, {
        ingest: {
          registration: null,
          events: [newEvent(`sent by ${runId}`, { callerId: "id" })],
          pairs: [startPair(`started by ${runId}`)],
        },
      });
    const held = a.wire.hold(commit);
    const early = send(a.world, "r1");
    await held.reached;
    const late = await send(b.world, "r2");
    expect(late).toMatchObject({ ingested: { decisions: [{ kind: "duplicate-event", runId: "first" }] } });
    held.release();
    expect(await early).toMatchObject({ ingested: { decisions: [{ kind: "duplicate-event", runId: "first" }] } });
    expect(a.wire.errors).toEqual([]);
  });
});

describe("what a duplicate is answered with", () => {
  test("is the run that has the key, and that it was cancelled if an earlier event of the call cancels it", async () => {
    const { nodes } = await open();
    const [{ world }] = nodes;
    const flow = startFlow({ singleton: { key: "s", mode: "cancel", result: "{}" } });
    const { decisions } = await world.ingest(
      upTo(4).map((n) => newEvent(`e${n}`)),
      [
        startPair("first", { event: 0, key: '"k"', flow }),
        startPair("duplicate", { event: 1, key: '"k"', flow }),
        startPair("other", { event: 2, key: '"other"', flow }),
        startPair("late", { event: 3, key: '"k"', flow }),
      ],
    );
    expect(decisions.map(({ kind, runId }) => `${kind} ${runId}`)).toEqual([
      "started first",
      "duplicate-key first",
      "started other",
      "duplicate-key first",
    ]);
    // By then it had been cancelled.
    expect(decisions[1]!.reason).not.toBe(decisions[3]!.reason);
    expect(await world.claimOf('"k"')).toMatchObject({ holder: "first", asked: 3 });
  });

  test("is the run of a buffered event once an event of the same call fills the buffer", async () => {
    const { nodes } = await open();
    const [{ world }] = nodes;
    const buffer = { kind: "batch", key: "b", maxSize: 2, timeoutMs: 1_000, bytesMax: 1_000 } as const;
    const { decisions } = await world.ingest(
      ["id", "id", "other", "id"].map((callerId, n) => newEvent(`e${n}`, { callerId })),
      upTo(4).map((event) => startPair(`r${event}`, { event, flow: startFlow({ buffer }) })),
    );
    expect(decisions.map(({ eventId, kind, runId }) => `${eventId} ${kind} ${runId}`)).toEqual([
      "e0 started r0",
      "e1 duplicate-event null",
      "e2 started r0",
      "e3 duplicate-event r0",
    ]);
  });

  test("is the newest rerun, for a key and for an event id", async () => {
    const { nodes } = await open();
    const [{ world }] = nodes;
    await world.start("first", { key: '"k"' }, { callerId: "id" });
    const rerun = { ...plainRerun, env, runId: "first", newRunId: "rerun", rank: 0, leaseTo: null };
    await world.store.rerun(rerun);
    expect(await world.start("same key", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "rerun" });
    const sameId = await world.start("same id", {}, { callerId: "id" });
    expect(sameId).toMatchObject({ kind: "duplicate-event", runId: "rerun" });
  });
});
