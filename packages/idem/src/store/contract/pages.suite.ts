// Lists for people: newest first, by time, without payloads, and never more work than was allowed.
import { describe, expect, test } from "vitest";
import type { Run } from "../../model/run.ts";
import { makeUlid } from "../../model/ulid.ts";
import type { NewPair } from "../ingest.ts";
import type { Page } from "../reads.ts";
import type { RunSort } from "../run-sort.ts";
import { decidedPair, end, env, fn, newEvent, type OpenStore, openWorld, startPair, type World } from "./world.ts";

const minute = 60_000;
const bounds = { limit: 10, examinedMax: 1_000 };

let made = 0;
const idAt = (ms: number): string => {
  const entropy = new Uint8Array(10);
  new DataView(entropy.buffer).setUint32(6, ++made);
  return makeUlid(ms, entropy);
};

/** Events with a run each, a minute apart, oldest first. */
async function startEvery(world: World, over: readonly object[]): Promise<string[]> {
  const ids: string[] = [];
  for (const pair of over) {
    const at = world.clock.wallMs();
    const runId = idAt(at);
    await world.ingest([newEvent(idAt(at))], [startPair(runId, { leaseTo: "w1", ...pair })]);
    ids.push(runId);
    world.clock.advance(minute);
  }
  return ids;
}

/** Every page after the other, to the end. */
async function allPages<R, C>(read: (before: C | undefined) => Promise<Page<R, C>>): Promise<R[][]> {
  const pages: R[][] = [];
  let before: C | undefined;
  for (;;) {
    const { rows, next } = await read(before);
    pages.push([...rows]);
    if (next === null) return pages;
    before = next;
  }
}

export function pagesSuite(open: OpenStore): void {
  describe("pages", () => {
    test("runs of a time: from its first instant on, up to but without its last", async () => {
      const world = await openWorld(open);
      const start = world.clock.wallMs();
      const ids = await startEvery(world, [{}, {}, {}, {}]);
      const list = async (range: object) =>
        (await world.store.reads.runPage(env, { ...bounds, ...range })).rows.map(({ id }) => ids.indexOf(id));
      expect(await list({})).toEqual([3, 2, 1, 0]);
      expect(await list({ since: start + minute })).toEqual([3, 2, 1]);
      expect(await list({ until: start + 2 * minute })).toEqual([1, 0]);
      expect(await list({ since: start + minute, until: start + 3 * minute })).toEqual([2, 1]);
      expect(await list({ since: start + 3 * minute + 1 })).toEqual([]);
      expect(await list({ since: start + 30 * 24 * 60 * minute })).toEqual([]);
      expect(await list({ until: start - 30 * 24 * 60 * minute })).toEqual([]);
    });

    test("runs by function, state, key and event", async () => {
      const world = await openWorld(open);
      const ids = await startEvery(world, [{ key: "1" }, { fn: "shop-other" }, { key: "2" }, { leaseTo: null }]);
      await world.advance(ids[0]!, { next: end("completed") });
      await world.advance(ids[2]!, { next: end("failed") });
      const list = async (filter: object) =>
        (await world.store.reads.runPage(env, { ...bounds, ...filter })).rows.map(({ id }) => ids.indexOf(id));
      expect(await list({ fn })).toEqual([3, 2, 0]);
      expect(await list({ state: "completed" })).toEqual([0]);
      expect(await list({ state: "running" })).toEqual([1]);
      expect(await list({ isOpen: true })).toEqual([3, 1]);
      expect(await list({ isOpen: true, fn })).toEqual([3]);
      expect(await list({ state: "queued", fn: "shop-other" })).toEqual([]);
      expect(await list({ state: "failed", fn })).toEqual([2]);
      expect(await list({ fn, key: "2" })).toEqual([2]);
      const { eventId } = await world.run(ids[1]!);
      expect(await list({ eventId })).toEqual([1]);
      expect(await list({ eventId, isOpen: true })).toEqual([1]);
      expect(await list({ eventId, fn })).toEqual([]);
      expect(await list({ eventId: "nobody" })).toEqual([]);
    });

    test("a run in a list has the beginning of its result and not the whole", async () => {
      const world = await openWorld(open);
      const [id] = await startEvery(world, [{}]);
      expect((await world.store.reads.runPage(env, bounds)).rows[0]!.preview).toBeNull();
      const result = JSON.stringify("x".repeat(5_000));
      await world.advance(id!, { next: end("completed", result) });
      const { result: _, ...run } = await world.run(id!);
      expect((await world.store.reads.runPage(env, bounds)).rows).toEqual([{ ...run, preview: result.slice(0, 80) }]);
    });

    test("pages of any size, put together, are the whole list", async () => {
      const world = await openWorld(open);
      const ids = await startEvery(world, [{}, { fn: "shop-other" }, {}, {}, { fn: "shop-other" }, {}]);
      const { reads } = world.store;
      for (const limit of [1, 2, 3, 4, 10]) {
        for (const examinedMax of [1, 2, 5, 100]) {
          const size = { limit, examinedMax };
          const page = (filter: object) => (before?: string) =>
            reads.runPage(env, { ...size, ...filter, ...(before === undefined ? {} : { before }) });
          const every = (await allPages(page({}))).flat().map(({ id }) => id);
          expect(every).toEqual(ids.toReversed());
          const some = (await allPages(page({ fn: "shop-other" }))).flat().map(({ id }) => id);
          expect(some).toEqual([ids[4], ids[1]]);
        }
      }
    });

    test("a page that looked at as much as it may ends there and says where to continue", async () => {
      const world = await openWorld(open);
      const ids = await startEvery(world, [{ key: "1" }, {}, {}, {}]);
      const first = await world.store.reads.runPage(env, { limit: 1, examinedMax: 2, fn, key: "1" });
      expect(first).toEqual({ rows: [], next: ids[2] });
      const second = await world.store.reads.runPage(env, {
        limit: 1,
        examinedMax: 2,
        fn,
        key: "1",
        before: first.next!,
      });
      expect(second.rows.map(({ id }) => id)).toEqual([ids[0]]);
    });

    test("events by name and time, with the size of their data in bytes and without the data", async () => {
      const world = await openWorld(open);
      const start = world.clock.wallMs();
      const ids: string[] = [];
      for (const name of ["a", "b", "a"]) {
        ids.push(idAt(world.clock.wallMs()));
        await world.ingest([newEvent(ids.at(-1)!, { name, data: '{"x":"é"}', callerId: `id of ${ids.length}` })]);
        world.clock.advance(minute);
      }
      const list = async (filter: object) =>
        (await world.store.reads.eventPage(env, { ...bounds, ...filter })).rows.map(({ id }) => ids.indexOf(id));
      expect(await list({})).toEqual([2, 1, 0]);
      expect(await list({ name: "a" })).toEqual([2, 0]);
      expect(await list({ name: "a", before: ids[2] })).toEqual([0]);
      expect(await list({ since: start + minute })).toEqual([2, 1]);
      expect(await list({ until: start + minute })).toEqual([0]);
      const { data: _, extra: __, ...event } = (await world.store.reads.event(env, ids[0]!))!;
      const page = await world.store.reads.eventPage(env, { ...bounds, until: start + minute });
      expect(page.rows).toEqual([{ ...event, dataBytes: 10 }]);
      const pages = await allPages((before?: string) =>
        world.store.reads.eventPage(env, {
          limit: 1,
          examinedMax: 2,
          name: "a",
          ...(before === undefined ? {} : { before }),
        }),
      );
      expect(pages.flat().map(({ id }) => ids.indexOf(id))).toEqual([2, 0]);
    });

    test("events by what became of them, for any function and for one", async () => {
      const world = await openWorld(open);
      const names: Record<string, string> = {};
      const came = async (name: string, pairs: NewPair[], over: object = {}) => {
        const id = idAt(world.clock.wallMs());
        names[id] = name;
        await world.ingest([newEvent(id, over)], pairs);
        world.clock.advance(minute);
      };
      const start = (over: object = {}) => startPair(idAt(world.clock.wallMs()), { leaseTo: "w1", ...over });
      const other = { fn: "shop-other" };
      await came("first", [start({ key: "1" })], { callerId: "o-1" });
      await came("again", [start({ key: "1" })], { callerId: "o-1" });
      await came("same key", [start({ key: "1" }), decidedPair(other)]);
      await came("filtered", [decidedPair()]);
      await came("half", [decidedPair(), start(other)]);
      await came("unheard", []);
      // Nobody sent it, so nobody wonders that nothing listens.
      await came("own", [], { name: "inngest/function.finished" });
      await came("own, filtered", [decidedPair()], { name: "idem/duplicate.detected" });
      await came("paused", [decidedPair({ kind: "paused" }), decidedPair(other)]);
      await came("missed", [decidedPair({ kind: "missed" })]);
      const list = async (filter: object) =>
        (await world.store.reads.eventPage(env, { ...bounds, ...filter })).rows.map(({ id }) => names[id]);
      expect(await list({ outcome: "started" })).toEqual(["half", "first"]);
      expect(await list({ outcome: "nothing" })).toEqual(["missed", "own, filtered", "unheard", "filtered"]);
      expect(await list({ outcome: "unheard" })).toEqual(["unheard"]);
      expect(await list({ outcome: "duplicate" })).toEqual(["same key", "again"]);
      expect(await list({ outcome: "filtered" })).toEqual(["paused", "own, filtered", "half", "filtered", "same key"]);
      expect(await list({ outcome: "paused" })).toEqual(["paused"]);
      expect(await list({ outcome: "missed" })).toEqual(["missed"]);
      expect(await list(other)).toEqual(["paused", "half", "same key"]);
      expect(await list({ ...other, outcome: "started" })).toEqual(["half"]);
      expect(await list({ ...other, outcome: "nothing" })).toEqual(["paused", "same key"]);
      expect(await list({ fn, outcome: "nothing" })).toEqual(["missed", "own, filtered", "half", "filtered"]);
      expect(await list({ fn, outcome: "duplicate" })).toEqual(["same key", "again"]);
      expect(await list({ fn, outcome: "unheard" })).toEqual([]);
      const pages = await allPages((before?: string) =>
        world.store.reads.eventPage(env, {
          limit: 1,
          examinedMax: 2,
          outcome: "nothing",
          ...(before === undefined ? {} : { before }),
        }),
      );
      expect(pages.flat().map(({ id }) => names[id])).toEqual(["missed", "own, filtered", "unheard", "filtered"]);
    });

    test("runs by how long they took and by when they began, as of one instant, page by page", async () => {
      const world = await openWorld(open);
      const ids = await startEvery(world, [{}, {}, { fn: "shop-other" }, { leaseTo: null }, {}]);
      // A minute apart from each other: the first took 5, the third 4 and the fifth 3 minutes; the second is open, the fourth has not begun.
      for (const i of [0, 2, 4]) {
        await world.advance(ids[i]!, { next: end("completed") });
        world.clock.advance(minute);
      }
      const asOf = world.clock.wallMs();
      const list = async (sort: object, filter: object = {}) => {
        const order = { by: "took", isDescending: true, asOf, ...sort } as RunSort;
        const { rows, next } = await world.store.reads.runPage(env, { ...bounds, ...filter, sort: order });
        return [...rows.map(({ id }) => ids.indexOf(id)), ...(next === null ? [] : [`before ${ids.indexOf(next)}`])];
      };
      expect(await list({})).toEqual([1, 0, 2, 4]);
      expect(await list({ isDescending: false })).toEqual([4, 2, 0, 1]);
      expect(await list({ by: "started" })).toEqual([4, 2, 1, 0]);
      expect(await list({ by: "started", isDescending: false })).toEqual([0, 1, 2, 4]);
      expect(await list({}, { fn })).toEqual([1, 0, 4]);
      expect(await list({}, { state: "running" })).toEqual([1]);
      expect(await list({}, { state: "completed", endedSince: asOf - 2 * minute })).toEqual([2, 4]);
      expect(await list({}, { eventId: (await world.run(ids[1]!)).eventId })).toEqual([1]);
      expect(await list({}, { limit: 2 })).toEqual([1, 0]);
      expect(await list({}, { examinedMax: 3 })).toEqual([2, 4, "before 2"]);
      const [first, second] = await Promise.all([0, 2].map((i) => world.run(ids[i]!)));
      const took = ({ startedAt, endedAt, id }: Run) => ({ value: endedAt! - startedAt!, id });
      expect(await list({ after: took(first!) })).toEqual([2, 4]);
      expect(await list({ after: took(second!) })).toEqual([4]);
      expect(await list({ after: took(second!), isDescending: false })).toEqual([0, 1]);
      // As of an instant before anything ended, each has been at it since its start.
      expect(await list({ asOf: first!.endedAt! - 1 })).toEqual([0, 1, 2, 4]);
    });

    test("decisions by kind, function and time, also where one event has several", async () => {
      const world = await openWorld(open);
      const start = world.clock.wallMs();
      const [e1, e2] = [idAt(start), idAt(start + 1)];
      await world.ingest([newEvent(e1)], [startPair(idAt(start), { key: "1" }), decidedPair({ fn: "shop-other" })]);
      world.clock.advance(minute);
      await world.ingest(
        [newEvent(e2)],
        [startPair(idAt(start), { key: "1" }), decidedPair({ fn: "shop-other", kind: "paused" })],
      );
      const list = async (filter: object) =>
        (await world.store.reads.decisionPage(env, { ...bounds, ...filter })).rows.map(
          ({ eventId, fn: of, kind }) => `${eventId === e1 ? 1 : 2} ${of === fn ? "bill" : "other"} ${kind}`,
        );
      expect(await list({})).toEqual(["2 other paused", "2 bill duplicate-key", "1 other filtered", "1 bill started"]);
      expect(await list({ kinds: ["duplicate-key", "filtered"] })).toEqual([
        "2 bill duplicate-key",
        "1 other filtered",
      ]);
      expect(await list({ fn })).toEqual(["2 bill duplicate-key", "1 bill started"]);
      expect(await list({ since: start + 1 })).toEqual(["2 other paused", "2 bill duplicate-key"]);
      expect(await list({ until: start + 1 })).toEqual(["1 other filtered", "1 bill started"]);
      for (const limit of [1, 2, 3]) {
        const pages = await allPages((before?: { eventId: string; fn: string }) =>
          world.store.reads.decisionPage(env, {
            limit,
            examinedMax: 2,
            ...(before === undefined ? {} : { before }),
          }),
        );
        expect(pages.flat()).toEqual((await world.store.reads.decisionPage(env, bounds)).rows);
      }
    });

    test("what is pending is listed from the oldest on, and the next page begins once the first is decided", async () => {
      const world = await openWorld(open);
      const start = world.clock.wallMs();
      const ids: string[] = [];
      for (const kind of ["paused", "filtered", "held", "paused", "paused"] as const) {
        ids.push(idAt(world.clock.wallMs()));
        await world.ingest([newEvent(ids.at(-1)!)], [decidedPair({ kind })]);
        world.clock.advance(minute);
      }
      const list = async (filter: object) => {
        const asked = { ...bounds, isPending: true, oldestFirst: true, ...filter } as const;
        const { rows, next } = await world.store.reads.decisionPage(env, asked);
        return { rows: rows.map(({ eventId }) => ids.indexOf(eventId)), isMore: next !== null };
      };
      expect(await list({})).toEqual({ rows: [0, 2, 3, 4], isMore: false });
      expect(await list({ kinds: ["paused"], limit: 2 })).toEqual({ rows: [0, 3], isMore: true });
      expect(await list({ kinds: ["paused"], until: start + 4 * minute })).toEqual({ rows: [0, 3], isMore: false });
      expect(await list({ fn: "shop-other" })).toEqual({ rows: [], isMore: false });
      for (const i of [0, 3]) {
        const pair = decidedPair({ kind: "dropped" });
        await world.store.redecide({ env, registration: null, eventId: ids[i]!, pair, reason: "" });
      }
      expect(await list({ kinds: ["paused"], limit: 2 })).toEqual({ rows: [4], isMore: false });
    });

    test("an environment's pages hold nothing of another", async () => {
      const world = await openWorld(open);
      await startEvery(world, [{}]);
      const nothing = { rows: [], next: null };
      expect(await world.store.reads.runPage("other", bounds)).toEqual(nothing);
      expect(await world.store.reads.eventPage("other", bounds)).toEqual(nothing);
      expect(await world.store.reads.decisionPage("other", bounds)).toEqual(nothing);
    });
  });
}
