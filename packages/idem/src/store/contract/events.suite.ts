// Events are stored with one decision for every function they matched. The first event with a caller's id wins.
import { describe, expect, test } from "vitest";
import type { Decision } from "../../model/decision.ts";
import { dayMs } from "../../model/window.ts";
import {
  decidedPair,
  end,
  env,
  eventWait,
  everyWrite,
  fn,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  runJob,
  startPair,
  type World,
} from "./world.ts";

const told = ({ fn, kind, runId }: Decision) => [fn, kind, runId];

export function eventsSuite(open: OpenStore): void {
  describe("events", () => {
    test("an accepted event is stored as it came, with the store's time of receipt", async () => {
      const world = await openWorld(open);
      const extra = '{"user":{"id":1}}';
      const event = newEvent("e1", { callerId: "order-7", data: '{ "a":  1.0 }', extra, sourceRunId: "r0" });
      const { events, now } = await world.ingest([event]);
      expect(events).toEqual([{ id: "e1", firstEventId: null }]);
      expect(now).toBe(world.clock.wallMs());
      const { windowMs: _, ...stored } = event;
      expect(await world.store.reads.event(env, "e1")).toEqual({ ...stored, receivedAt: now, firstEventId: null });
    });

    test("events are found by the values they are kept with: a whole one newest first, and by its beginning in order", async () => {
      const world = await openWorld(open);
      const value = (word: string, path = "event.data.id") => ({ path, word, value: JSON.stringify(word) });
      await world.ingest([newEvent("e1", { values: [value("ab"), value("c", "event.data.x")] })]);
      await world.ingest([
        newEvent("e2", { name: "other", values: [value("ab")] }),
        newEvent("e3", { values: [value("abc")] }),
      ]);
      await world.ingest([newEvent("e2", { name: "other", values: [value("zz")] })]);
      const find = async (filter: object) =>
        (await world.store.reads.valuesFound(env, { limit: 10, ...filter } as never)).map(
          ({ eventId, name, path, value: json }) => [eventId, name, path, json].join(" "),
        );
      expect(await find({ word: "ab" })).toEqual(['e2 other event.data.id "ab"', 'e1 order/paid event.data.id "ab"']);
      expect(await find({ word: "ab", limit: 1 })).toEqual(['e2 other event.data.id "ab"']);
      expect(await find({ word: "a", isBeginning: true })).toHaveLength(3);
      expect(await find({ word: "ab", isBeginning: true })).toEqual(['e3 order/paid event.data.id "abc"']);
      expect(await find({ word: "c" })).toEqual(['e1 order/paid event.data.x "c"']);
      expect(await find({ word: "zz" })).toEqual([]);
      expect(await world.store.reads.valuesFound("elsewhere", { word: "ab", limit: 1 })).toEqual([]);
    });

    test("every pair has exactly one decision, told and kept", async () => {
      const world = await openWorld(open);
      const pairs = [
        startPair("r1", { fn: "shop-a", key: '"k"', reason: "look twice" }),
        decidedPair({ fn: "shop-b", kind: "paused", reason: "paused by a person" }),
        startPair("r2", { fn: "shop-c", event: 1 }),
      ];
      const { decisions } = await world.ingest([newEvent("e1"), newEvent("e2")], pairs);
      const decidedAt = world.clock.wallMs();
      const base = { firstEventId: null, decidedAt };
      expect(decisions).toEqual([
        {
          ...base,
          eventId: "e1",
          fn: "shop-a",
          kind: "started",
          reason: "look twice",
          runId: "r1",
          key: '"k"',
          windowEndsAt: decidedAt + dayMs,
        },
        {
          ...base,
          eventId: "e1",
          fn: "shop-b",
          kind: "paused",
          reason: "paused by a person",
          runId: null,
          key: null,
          windowEndsAt: null,
        },
        {
          ...base,
          eventId: "e2",
          fn: "shop-c",
          kind: "started",
          reason: null,
          runId: "r2",
          key: null,
          windowEndsAt: null,
        },
      ]);
      expect(await world.store.reads.decisionsOfEvent(env, "e1")).toEqual(decisions.slice(0, 2));
      expect(await world.store.reads.decisionsOfEvent(env, "e2")).toEqual(decisions.slice(2));
    });

    test("what was decided for several events is told for each of them, in the order they are asked for", async () => {
      const world = await openWorld(open);
      await world.ingest(
        [newEvent("e1"), newEvent("e2"), newEvent("e3")],
        [
          startPair("r1", { fn: "shop-b" }),
          decidedPair({ fn: "shop-a" }),
          startPair("r2", { event: 2 }),
          decidedPair({ event: 2, fn: "shop-other" }),
        ],
      );
      const { reads } = world.store;
      const asked = ["e3", "nobody", "e1", "e2"];
      const each = await Promise.all(asked.map((id) => reads.decisionsOfEvent(env, id)));
      expect(await reads.decisionsOfEvents(env, asked)).toEqual(each);
      expect(each.map((some) => some.map(({ kind }) => kind).sort())).toEqual([
        ["filtered", "started"],
        [],
        ["filtered", "started"],
        [],
      ]);
      expect(await reads.decisionsOfEvents(env, [])).toEqual([]);
      expect(await reads.decisionsOfEvents("elsewhere", ["e1"])).toEqual([[]]);
    });

    test("a decision that starts nothing leaves no claim", async () => {
      const world = await openWorld(open);
      await world.ingest([newEvent("e1")], [decidedPair()]);
      expect(await world.store.reads.claims(env, { limit: 10 })).toEqual([]);
    });

    test("an event nobody matched is stored all the same", async () => {
      const world = await openWorld(open);
      expect((await world.ingest([newEvent("e1")])).decisions).toEqual([]);
      expect(await world.store.reads.event(env, "e1")).not.toBeNull();
    });

    test("pairs decided with an old registration are refused and nothing is stored", async () => {
      const world = await openWorld(open);
      await world.store.register({ env, app: "shop", functions: [{ fn, id: "bill", config: "{}", crons: [] }] });
      const rows = await world.rows();
      const input = { env, events: [newEvent("e1", { callerId: "id" })], pairs: [startPair("r1", { key: "1" })] };
      const stale = await world.store.ingest({ ...input, registration: 0, leaseTo: null });
      expect(stale).toEqual({ kind: "stale-registration", registration: 1 });
      expect(await world.rows()).toEqual(rows);
      expect(await world.store.ingest({ ...input, registration: 1, leaseTo: null })).toMatchObject({
        kind: "ingested",
      });
    });

    test("a repeated call is told who executes its runs, although functions were registered since", async () => {
      const world = await openWorld(open);
      await world.store.register({ env, app: "shop", functions: [{ fn, id: "bill", config: "{}", crons: [] }] });
      await world.store.heartbeat("w1", 60_000);
      const input = {
        env,
        registration: 1,
        events: [newEvent("e1")],
        pairs: [startPair("r1", { leaseTo: "w1" })],
        leaseTo: "w1",
      };
      expect(await world.store.ingest(input)).toMatchObject({ kind: "ingested", leased: [{ jobId: "r1" }] });
      await world.store.register({
        env,
        app: "shop",
        functions: [{ fn, id: "bill", config: '{"retries":1}', crons: [] }],
      });
      expect(await world.store.ingest(input)).toMatchObject({
        kind: "ingested",
        decisions: [{ kind: "started", runId: "r1" }],
        leased: [{ jobId: "r1" }],
      });
      // A new event has to be decided anew.
      const other = { ...input, events: [newEvent("e2")], pairs: [startPair("r2")] };
      expect(await world.store.ingest(other)).toEqual({ kind: "stale-registration", registration: 2 });
    });

    test("a call that cannot be stored leaves nothing behind, and the calls beside it are stored", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      // The second pair takes a run id that is in use: by then the call has written an event, a claim, a run and a job.
      const faulty = world.ingest(
        [newEvent("e2", { callerId: "id" }), newEvent("e3")],
        [startPair("r2", { key: '"k"', leaseTo: "w1" }), startPair("r1", { event: 1 })],
      );
      const [before, refused, after] = await Promise.allSettled([world.start("r4"), faulty, world.start("r5")]);
      expect([before.status, refused.status, after.status]).toEqual(["fulfilled", "rejected", "fulfilled"]);
      const runs = await world.store.reads.runs(env, { limit: 10 });
      expect(runs.map(({ id }) => id)).toEqual(["r5", "r4", "r1"]);
      expect(await world.store.reads.event(env, "e2")).toBeNull();
      expect(await world.store.reads.claims(env, { limit: 10 })).toEqual([]);
      expect((await world.lease("w2")).jobs).toHaveLength(3);
    });

    test("events are listed newest first, page by page and by name", async () => {
      const world = await openWorld(open);
      await world.ingest(["e1", "e2", "e3"].map((id) => newEvent(id, { name: id === "e2" ? "b" : "a" })));
      const ids = (page: readonly { id: string }[]) => page.map(({ id }) => id);
      const { reads } = world.store;
      expect(ids(await reads.events(env, { limit: 2 }))).toEqual(["e3", "e2"]);
      expect(ids(await reads.events(env, { limit: 2, before: "e2" }))).toEqual(["e1"]);
      expect(ids(await reads.events(env, { limit: 2, name: "a" }))).toEqual(["e3", "e1"]);
      expect(await reads.event(env, "e4")).toBeNull();
    });

    test("rows given out do not change afterwards", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      const [run, claim, memo] = [await world.run("r1"), await world.claimOf('"k"'), await world.memo("r1")];
      const before = JSON.stringify([run, claim, memo]);
      await world.advance("r1", { steps: [newStep("s")], next: end("completed") });
      await world.start("r2", { key: '"k"' });
      expect(JSON.stringify([run, claim, memo])).toBe(before);
    });

    everyWrite(
      open,
      "ingest",
      async (world) => () =>
        world.ingest(
          [newEvent("e1", { callerId: "id" }), newEvent("e2")],
          [
            startPair("r2", { fn: "shop-b" }),
            startPair("r1", { fn: "shop-a", key: '"k"', leaseTo: "w1" }),
            startPair("r3", { fn: "shop-a", key: '"k"', event: 1 }),
            decidedPair({ fn: "shop-c", event: 1 }),
          ],
        ),
      withoutJobs,
    );

    everyWrite(
      open,
      "ingest of a duplicate",
      async (world) => {
        await world.start("r1", { key: '"k"' }, { callerId: "id" });
        return () => world.ingest([newEvent("e2", { callerId: "id", data: "{}" })], [startPair("r2", { key: '"k"' })]);
      },
      withoutJobs,
    );
  });

  describe("event ids", () => {
    test("a second event with the same id inside the window starts nothing and names the first", async () => {
      const world = await openWorld(open);
      const windowEndsAt = world.clock.wallMs() + dayMs;
      await world.start("r1", { key: '"k"' }, { callerId: "order-7" });
      world.clock.advance(1_000);
      const second = await world.ingest([newEvent("e2", { callerId: "order-7" })], [startPair("r2", { key: '"k2"' })]);
      expect(second).toMatchObject({ leased: [], queued: false });
      expect(second.events).toEqual([{ id: "e2", firstEventId: "event of r1" }]);
      expect(second.decisions).toEqual([
        {
          eventId: "e2",
          fn,
          kind: "duplicate-event",
          reason: 'event id "order-7" was first used by event event of r1',
          runId: "r1",
          key: '"k"',
          windowEndsAt,
          firstEventId: "event of r1",
          decidedAt: world.clock.wallMs(),
        },
      ]);
      expect(await world.store.reads.run(env, "r2")).toBeNull();
      expect(await world.store.reads.claim(env, `fn:${fn}`, '"k2"')).toBeNull();
    });

    test("of eight senders of one id at once, one starts a run and seven are told of it", async () => {
      const world = await openWorld(open);
      const ids = ["1", "2", "3", "4", "5", "6", "7", "8"];
      const decisions = await Promise.all(ids.map((id) => world.start(id, {}, { callerId: "id" })));
      expect(await world.store.reads.runs(env, { limit: 10 })).toHaveLength(1);
      expect(decisions.filter(({ kind }) => kind === "started")).toHaveLength(1);
      expect(new Set(decisions.map(({ runId }) => runId)).size).toBe(1);
      expect(await world.claimOf("id", "event")).toMatchObject({ asked: 8, state: "settled" });
    });

    test("the same id twice in one call: the first is the first", async () => {
      const world = await openWorld(open);
      const { events, decisions } = await world.ingest(
        [newEvent("e1", { callerId: "id" }), newEvent("e2", { callerId: "id" })],
        [startPair("r1"), startPair("r2", { event: 1 })],
      );
      expect(events.map(({ firstEventId }) => firstEventId)).toEqual([null, "e1"]);
      expect(decisions.map(told)).toEqual([
        [fn, "started", "r1"],
        [fn, "duplicate-event", "r1"],
      ]);
    });

    test("a call repeated after its answer was lost decides nothing anew, even after the window", async () => {
      const world = await openWorld(open);
      const send = () => world.ingest([newEvent("e1", { callerId: "id" })], [startPair("r1", { key: '"k"' })]);
      const first = await send();
      world.clock.advance(2 * dayMs);
      expect((await send()).decisions).toEqual(first.decisions);
      expect(await world.claimOf("id", "event")).toMatchObject({ asked: 1, fence: 1 });
      expect(await world.claimOf('"k"')).toMatchObject({ asked: 1, fence: 1 });
    });

    test("an id is one id across event names", async () => {
      const world = await openWorld(open);
      await world.start("r1", {}, { callerId: "id", name: "a" });
      expect(await world.start("r2", {}, { callerId: "id", name: "b" })).toMatchObject({ kind: "duplicate-event" });
    });

    test("an id and a function key of the same text are two keys", async () => {
      const world = await openWorld(open);
      expect(await world.start("r1", { key: "7" })).toMatchObject({ kind: "started" });
      expect(await world.start("r2", {}, { callerId: "7" })).toMatchObject({ kind: "started" });
    });

    test("at the end of its window, to the millisecond, an id is free again and opens a new generation", async () => {
      const world = await openWorld(open);
      await world.start("r1", {}, { callerId: "id" });
      world.clock.advance(dayMs - 1);
      expect(await world.start("r2", {}, { callerId: "id" })).toMatchObject({ kind: "duplicate-event", runId: "r1" });
      world.clock.advance(1);
      expect(await world.start("r3", {}, { callerId: "id" })).toMatchObject({ kind: "started", runId: "r3" });
      expect((await world.run("r1")).generation).toBe("event of r1");
      expect((await world.run("r3")).generation).toBe("event of r3");
    });

    test("a duplicate is told of every function of the first event, and of its own that the first did not have", async () => {
      const world = await openWorld(open);
      await world.ingest(
        [newEvent("e1", { callerId: "id" })],
        [startPair("r1", { fn: "shop-a" }), decidedPair({ fn: "shop-b" })],
      );
      const { decisions } = await world.ingest(
        [newEvent("e2", { callerId: "id" })],
        [startPair("r2", { fn: "shop-c" })],
      );
      expect(decisions.map(told)).toEqual([
        ["shop-a", "duplicate-event", "r1"],
        ["shop-b", "duplicate-event", null],
        ["shop-c", "duplicate-event", null],
      ]);
      expect(await world.store.reads.decisionsOfEvent(env, "e2")).toEqual(decisions);
    });

    test("a duplicate with other data is told the first event's data, and one with the same is not", async () => {
      const world = await openWorld(open);
      await world.ingest([newEvent("e1", { callerId: "id", data: '{"at":1}' })]);
      const ask = (id: string, data: string) =>
        world.ingest([newEvent(id, { callerId: "id", data })], [startPair(`run of ${id}`)]);
      expect((await ask("e2", '{"at":2}')).firsts).toEqual([{ eventId: "e1", data: '{"at":1}' }]);
      expect((await ask("e3", '{"at":1}')).firsts).toEqual([]);
    });

    test("an event whose key is taken is told the data of the event that has it", async () => {
      const world = await openWorld(open);
      const ask = (id: string, data: string) =>
        world.ingest([newEvent(id, { data })], [startPair(`run of ${id}`, { key: '"k"' })]);
      expect((await ask("e1", '{"kind":"INSERTED"}')).firsts).toEqual([]);
      const second = await ask("e2", '{"kind":"UPDATED"}');
      expect(second.firsts).toEqual([{ eventId: "e1", data: '{"kind":"INSERTED"}' }]);
      expect((await ask("e3", '{"kind":"INSERTED"}')).firsts).toEqual([]);
    });

    test("one id under two event names is said to be so", async () => {
      const world = await openWorld(open);
      await world.ingest([newEvent("e1", { callerId: "id", name: "cart/paid" })]);
      const { decisions } = await world.ingest(
        [newEvent("e2", { callerId: "id", name: "cart/deleted" })],
        [startPair("r2")],
      );
      expect(decisions[0]!.reason).toBe('event id "id" was first used by event e1 under the name "cart/paid"');
    });

    test("a duplicate is kept in the log, linked to the first", async () => {
      const world = await openWorld(open);
      for (const id of ["e1", "e2", "e3"]) await world.ingest([newEvent(id, { callerId: "id" })]);
      const { reads } = world.store;
      expect((await reads.duplicatesOf(env, "e1", 10)).map(({ id }) => id)).toEqual(["e2", "e3"]);
      expect(await reads.duplicatesOf(env, "e1", 1)).toHaveLength(1);
      expect(await reads.event(env, "e3")).toMatchObject({ callerId: "id", firstEventId: "e1" });
      expect(await reads.eventByCallerId(env, "id")).toMatchObject({ id: "e1" });
      expect(await reads.eventByCallerId(env, "other")).toBeNull();
    });

    test("the id of a delivery and the same id of another sender are two: neither is answered for the other", async () => {
      const world = await openWorld(open);
      const delivery = { callerId: "erp:key-1", idScope: "webhook" } as const;
      expect(await world.start("r1", {}, { callerId: "erp:key-1" })).toMatchObject({ kind: "started" });
      expect(await world.start("r2", {}, delivery)).toMatchObject({ kind: "started", runId: "r2" });
      expect(await world.start("r3", {}, delivery)).toMatchObject({ kind: "duplicate-event", runId: "r2" });
      expect(await world.start("r4", {}, { callerId: "erp:key-1" })).toMatchObject({
        kind: "duplicate-event",
        runId: "r1",
      });
      const { reads } = world.store;
      const heldBy = async (scope?: "event" | "webhook") =>
        (await reads.decisionsOfEvent(env, (await reads.eventByCallerId(env, "erp:key-1", scope))!.id))[0]!.runId;
      expect([await heldBy("event"), await heldBy("webhook"), await heldBy()]).toEqual(["r1", "r2", "r2"]);
    });

    test("what a run spared is listed with it", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' }, { callerId: "id" });
      await world.start("r2", { key: '"k"' });
      await world.start("r3", { key: '"k"' }, { callerId: "id" });
      const spared = await world.store.reads.duplicatesOfRun(env, "r1", 10);
      expect(spared.map(({ eventId, kind }) => [eventId, kind])).toEqual([
        ["event of r2", "duplicate-key"],
        ["event of r3", "duplicate-event"],
      ]);
      expect(await world.store.reads.duplicatesOfRun(env, "r1", 1)).toHaveLength(1);
      expect(await world.store.reads.duplicatesOfRun(env, "r1", 10, "event of r2")).toEqual(spared.slice(1));
    });

    test("a run without key belongs to the window of its event's id, else to its own generation", async () => {
      const world = await openWorld(open);
      await world.start("r1", {}, { callerId: "id" });
      await world.start("r2");
      await world.start("r3", { key: '"k"' }, { callerId: "other" });
      expect((await world.run("r1")).generation).toBe("event of r1");
      expect((await world.run("r2")).generation).toBe("generation of r2");
      expect((await world.run("r3")).generation).toBe("r3");
    });

    test("an id released by hand may be used again, in the same generation", async () => {
      const world = await openWorld(open);
      await world.start("r1", {}, { callerId: "id" });
      await world.releaseByHand("id", "event");
      expect(await world.start("r2", {}, { callerId: "id" })).toMatchObject({ kind: "started" });
      expect((await world.run("r2")).generation).toBe("event of r1");
    });
  });

  describe("jobs born with an event", () => {
    test("a run born leased comes with its memo, is running and is nobody else's", async () => {
      const world = await openWorld(open);
      const { leased, queued, now } = await world.ingest([newEvent("e1")], [startPair("r1", { leaseTo: "w1" })]);
      expect(queued).toBe(false);
      expect(leased).toHaveLength(1);
      const { memo, ...job } = runJob(leased[0]);
      expect(job).toEqual({ kind: "run", jobId: "r1", fence: 1, lostWorkers: 0 });
      expect(memo).toEqual({
        run: await world.run("r1"),
        event: await world.store.reads.event(env, "e1"),
        events: [await world.store.reads.event(env, "e1")],
        steps: [],
        attempts: [],
        waits: [],
        inputs: {},
      });
      expect(memo.run).toMatchObject({ state: "running", startedAt: now, createdAt: now, endedAt: null, result: null });
      expect((await world.lease("w2")).jobs).toEqual([]);
    });

    test("whoever asks again, its answer lost, is told again what was born leased to it, until somebody else has it", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r0", [eventWait("s", { eventName: "order/paid" })]);
      await world.store.heartbeat("w1", 1_000);
      const send = () => world.ingest([newEvent("e1")], [startPair("r1", { leaseTo: "w1" })], { leaseTo: "w1" });
      const first = await send();
      expect(first.leased).toMatchObject([{ jobId: "r1" }, { jobId: "deliver:e1" }]);
      expect((await send()).leased).toEqual(first.leased);
      await world.store.handBack("w1");
      expect((await send()).leased).toEqual([]);
      await world.lease("w2");
      expect((await send()).leased).toEqual([]);
    });

    test("a run nobody takes at once is queued", async () => {
      const world = await openWorld(open);
      const { leased, queued } = await world.ingest([newEvent("e1")], [startPair("r1")]);
      expect([leased, queued]).toEqual([[], true]);
      expect(await world.run("r1")).toMatchObject({ state: "queued", startedAt: null, dueAt: null });
    });

    test("a run that is due later is not born leased, and the answer says when it is due", async () => {
      const world = await openWorld(open);
      const dueAt = world.clock.wallMs() + 1;
      const answer = await world.ingest([newEvent("e1")], [startPair("r1", { dueAt, leaseTo: "w1" })]);
      expect(answer).toMatchObject({ leased: [], queued: false, dueAt });
      expect(await world.run("r1")).toMatchObject({ state: "waiting", dueAt });
    });

    test("a due time that has passed is at once", async () => {
      const world = await openWorld(open);
      const dueAt = world.clock.wallMs();
      const { leased } = await world.ingest([newEvent("e1")], [startPair("r1", { dueAt, leaseTo: "w1" })]);
      expect(leased).toHaveLength(1);
      expect(await world.run("r1")).toMatchObject({ state: "running" });
    });

    test("an event is delivered only if a run waits for its name, and a duplicate never is", async () => {
      const world = await openWorld(open);
      const send = (id: string, name: string) =>
        world.ingest([newEvent(id, { name, callerId: `${name} 1` })], [], { leaseTo: "w1" });
      await world.startWaiting("r1", [eventWait("s", { eventName: "order/shipped" })]);
      expect((await send("e1", "order/other")).leased).toEqual([]);
      expect((await send("e2", "order/shipped")).leased).toEqual([
        { kind: "deliver", jobId: "deliver:e2", fence: 1, event: await world.store.reads.event(env, "e2") },
      ]);
      expect(await send("e3", "order/shipped")).toMatchObject({ leased: [], queued: false });
    });

    test("a delivery nobody takes at once is queued, for any worker", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      expect(await world.ingest([newEvent("e1", { name: "order/shipped" })])).toMatchObject({
        leased: [],
        queued: true,
      });
      const { jobs } = await world.lease("w2", { functions: [] });
      expect(jobs).toMatchObject([{ kind: "deliver", jobId: "deliver:e1", fence: 1, event: { id: "e1" } }]);
    });
  });
}

// A repeat creates no job, so it queues none; the rest of the answer is the same.
const withoutJobs = ({ leased: _, queued: __, ...answer }: Awaited<ReturnType<World["ingest"]>>) => answer;
