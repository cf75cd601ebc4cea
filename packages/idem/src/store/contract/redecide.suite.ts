// A person decides what waits for one: a paused or held event is released or dropped, once.
import { describe, expect, test } from "vitest";
import type { RedecideInput } from "../flow.ts";
import type { DecidedPair, StartPair } from "../ingest.ts";
import {
  decidedPair,
  env,
  everyWrite,
  fn,
  newEvent,
  type OpenStore,
  openWorld,
  startFlow,
  startPair,
  type World,
} from "./world.ts";

const keep = (world: World, kind: DecidedPair["kind"], id = "e1") =>
  world.ingest([newEvent(id)], [decidedPair({ kind })]);
const redecide = (world: World, pair: RedecideInput["pair"], over: Partial<RedecideInput> = {}) =>
  world.store.redecide({ env, registration: null, eventId: "e1", pair, reason: "a person asked", ...over });
const release = (world: World, runId: string, over: Partial<StartPair> = {}) => redecide(world, startPair(runId, over));
const drop = (world: World) => redecide(world, decidedPair({ kind: "dropped", reason: "not wanted" }));
const runCount = async (world: World) => (await world.store.reads.runs(env, { limit: 10 })).length;

export function redecideSuite(open: OpenStore): void {
  describe("redecide", () => {
    for (const kind of ["paused", "held"] as const) {
      test(`a ${kind} event that is released starts its run`, async () => {
        const world = await openWorld(open);
        await keep(world, kind);
        world.clock.advance(10);
        const answer = await release(world, "r1", { key: '"k"', leaseTo: "w1", reason: "released by a person" });
        expect(answer).toMatchObject({
          kind: "ingested",
          decisions: [{ eventId: "e1", kind: "started", runId: "r1", key: '"k"', reason: "released by a person" }],
          leased: [{ jobId: "r1", fence: 1 }],
        });
        expect(await world.decision("e1")).toMatchObject({ kind: "started", decidedAt: world.clock.wallMs() });
        expect(await world.claimOf('"k"')).toMatchObject({ holder: "r1" });
      });

      test(`a ${kind} event that is dropped says why, and is pending no longer`, async () => {
        const world = await openWorld(open);
        await keep(world, kind);
        expect(await drop(world)).toMatchObject({
          decisions: [{ kind: "dropped", reason: "not wanted", runId: null }],
        });
        expect(await release(world, "r1")).toEqual({ kind: "not-pending" });
        expect(await runCount(world)).toBe(0);
      });
    }

    test("what was decided for good, or by a buffer, or never, is not for a person to decide", async () => {
      const world = await openWorld(open);
      expect(await release(world, "r1")).toEqual({ kind: "not-pending" });
      await keep(world, "filtered", "filtered");
      await world.start("started");
      const buffer = { kind: "debounce", key: "{}", periodMs: 100, timeoutMs: null } as const;
      await world.start("buffered", { flow: startFlow({ buffer }) });
      await keep(world, "paused");
      for (const eventId of ["filtered", "event of started", "event of buffered"]) {
        expect(await redecide(world, startPair("r1"), { eventId })).toEqual({ kind: "not-pending" });
      }
      expect(await redecide(world, startPair("r1", { fn: "shop-other" }))).toEqual({ kind: "not-pending" });
      expect(await runCount(world)).toBe(1);
    });

    test("of several who release at once one does, and its run is the only one", async () => {
      const world = await openWorld(open);
      await keep(world, "paused");
      const answers = await Promise.all([1, 2, 3, 4].map((n) => release(world, `r${n}`)));
      expect(answers.map(({ kind }) => kind).sort()).toEqual(["ingested", "not-pending", "not-pending", "not-pending"]);
      expect(await runCount(world)).toBe(1);
    });

    test("a release against a drop: one of them counts", async () => {
      const world = await openWorld(open);
      await keep(world, "held");
      const [released, dropped] = await Promise.all([release(world, "r1"), drop(world)]);
      expect([released.kind, dropped.kind].sort()).toEqual(["ingested", "not-pending"]);
      expect(await runCount(world)).toBe(released.kind === "ingested" ? 1 : 0);
    });

    test("whoever releases again with the same run is told of it, and others that it is decided", async () => {
      const world = await openWorld(open);
      await keep(world, "paused");
      await release(world, "r1");
      expect(await release(world, "r1")).toMatchObject({ kind: "ingested", decisions: [{ runId: "r1" }] });
      expect(await release(world, "r2")).toEqual({ kind: "not-pending" });
    });

    test("a released event passes what every start passes: key, limit and singleton", async () => {
      const world = await openWorld(open);
      const flow = startFlow({ rateLimit: { id: "rate", limit: 1, periodMs: 1_000 } });
      const singleton = startFlow({ singleton: { key: "{}", mode: "skip" } });
      await world.start("first", { key: '"k"', flow });
      await world.start("only", { fn, flow: singleton });
      for (const id of ["a", "b", "c"]) await keep(world, "paused", id);
      const kind = async (eventId: string, over: Partial<StartPair>) => {
        await redecide(world, startPair(`run of ${eventId}`, over), { eventId });
        return (await world.decision(eventId)).kind;
      };
      expect(await kind("a", { key: '"k"' })).toBe("duplicate-key");
      expect(await kind("b", { flow, key: '"b"' })).toBe("rate-limited");
      expect(await kind("c", { flow: singleton, key: '"c"' })).toBe("singleton-skipped");
      for (const key of ['"b"', '"c"']) expect(await world.store.reads.claim(env, `fn:${fn}`, key)).toBeNull();
    });

    test("a release decided with an old registration is refused, and nothing changes", async () => {
      const world = await openWorld(open);
      await world.register({ [fn]: [] });
      await keep(world, "paused");
      const rows = await world.rows();
      expect(await redecide(world, startPair("r1"), { registration: 0 })).toEqual({
        kind: "stale-registration",
        registration: 1,
      });
      expect(await world.rows()).toEqual(rows);
      expect(await redecide(world, startPair("r1"), { registration: 1 })).toMatchObject({ kind: "ingested" });
    });

    test("pending decisions can be listed, and leave the list when they are decided", async () => {
      const world = await openWorld(open);
      for (const id of ["e1", "e2", "e3"]) await keep(world, id === "e2" ? "filtered" : "held", id);
      const pending = async () => {
        const { rows } = await world.store.reads.decisionPage(env, { isPending: true, limit: 10, examinedMax: 10 });
        return rows.map(({ eventId }) => eventId);
      };
      expect(await pending()).toEqual(["e3", "e1"]);
      await drop(world);
      expect(await pending()).toEqual(["e3"]);
    });

    test("an event held in one environment is not released in another", async () => {
      const world = await openWorld(open);
      await keep(world, "held");
      expect(await redecide(world, startPair("r1"), { env: "elsewhere" })).toEqual({ kind: "not-pending" });
    });

    everyWrite(
      open,
      "redecide, release",
      async (world) => {
        await keep(world, "paused");
        return () => release(world, "r1", { key: '"k"' });
      },
      (answer) => (answer.kind === "ingested" ? answer.decisions : answer.kind),
    );
    everyWrite(
      open,
      "redecide, drop",
      async (world) => {
        await keep(world, "held");
        return () => drop(world);
      },
      // The repeat finds it decided.
      null,
    );
  });
}
