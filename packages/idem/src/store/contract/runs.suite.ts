// A run ends once. Cancelling, ending and rerunning leave one answer to "what became of it?".
import { describe, expect, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import { nothingOpen } from "../reads.ts";
import {
  end,
  env,
  eventWait,
  everyWrite,
  fn,
  forever,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  plainRerun,
  runJob,
  runWait,
  signalWait,
  startPair,
  timeWait,
  value,
  type World,
} from "./world.ts";

const cancel = (world: World, runId = "r1", over: { releaseKey?: boolean } = {}) =>
  world.store.cancel({ env, runId, result: '"cancelled"', releaseKey: false, ingest: null, ...over });

const rerun = (world: World, runId: string, newRunId: string, leaseTo: string | null = null) =>
  world.store.rerun({ ...plainRerun, env, runId, newRunId, rank: 0, leaseTo });

/** A run `parent` that waits for `child`, which is born leased to `w1`. */
async function invoke(world: World, over: Partial<Parameters<typeof startPair>[1]> = {}) {
  await world.startLeased("parent");
  return world.advance("parent", {
    waits: [runWait("s")],
    ingest: {
      registration: null,
      events: [newEvent("invoke")],
      pairs: [startPair("child", { leaseTo: "w1", ...over })],
    },
    next: forever,
  });
}

export function runsSuite(open: OpenStore): void {
  describe("runs", () => {
    test("a run is queued, running, waiting, and then what it ended as", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      expect(await world.run("r1")).toMatchObject({ state: "queued" });
      await world.lease();
      expect(await world.run("r1")).toMatchObject({ state: "running", startedAt: world.clock.wallMs() });
      const dueAt = world.clock.wallMs() + 10;
      await world.advance("r1", { waits: [timeWait("s", dueAt)], next: forever });
      expect(await world.run("r1")).toMatchObject({ state: "waiting", dueAt });
      world.clock.advance(10);
      await world.lease();
      await world.advance("r1", { fence: 2, next: end("completed", '{"ok":true}') });
      expect(await world.run("r1")).toMatchObject({
        state: "completed",
        result: '{"ok":true}',
        endedAt: world.clock.wallMs(),
        startedAt: world.clock.wallMs() - 10,
        dueAt: null,
      });
    });

    test("a run that waits without end is waiting, not queued", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      expect(await world.run("r1")).toMatchObject({ state: "waiting" });
      world.clock.advance(365 * dayMs);
      expect((await world.lease()).jobs).toEqual([]);
    });

    test("the end takes the last steps and events with it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const answer = await world.advance("r1", {
        steps: [newStep("s")],
        ingest: { registration: null, events: [newEvent("e2")], pairs: [startPair("r2")] },
        next: end("completed"),
      });
      expect(answer).toMatchObject({ leased: false, news: [], outcomes: [newStep("s").outcome] });
      expect(answer.ingested).toMatchObject({ queued: true, decisions: [{ runId: "r2" }] });
      expect(await world.memo("r1")).toMatchObject({ steps: [{ stepId: "s" }], run: { state: "completed" } });
    });

    test("an end repeated after its answer was lost is answered as the first, not as fenced", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const patch = { steps: [newStep("s", { outcome: value(1) })], next: end("completed") };
      await world.advance("r1", patch);
      const rows = await world.rows();
      world.clock.advance(10);
      expect(await world.tryAdvance("r1", patch)).toMatchObject({
        kind: "advanced",
        outcomes: [value(1)],
        leased: false,
        news: [],
        woken: [],
        ingested: null,
      });
      expect(await world.rows()).toEqual(rows);
    });

    test("an ended run is told as ended to every other patch, and keeps its first end", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { next: end("failed", '"first"') });
      const ended = { kind: "ended", state: "failed" };
      expect(await world.tryAdvance("r1", { steps: [newStep("s")] })).toEqual(ended);
      expect(await world.tryAdvance("r1", { next: forever })).toEqual(ended);
      expect(await world.tryAdvance("r1", { fence: 2, next: end("completed") })).toEqual(ended);
      expect(await world.run("r1")).toMatchObject({ state: "failed", result: '"first"' });
      expect((await world.memo("r1")).steps).toEqual([]);
    });

    test("an ended run leaves no job and no wait", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [signalWait("s", "sig"), eventWait("t")], next: end("completed") });
      expect((await world.memo("r1")).waits).toEqual([]);
      expect(await world.store.signal(env, "sig", value(1))).toEqual({ kind: "nobody-waits" });
      expect(await world.store.reads.waitPaths(env, "order/shipped")).toEqual([]);
      expect((await world.lease("w2")).jobs).toEqual([]);
      expect(await world.store.sweep({ max: 10, repair: true })).toMatchObject({ repaired: 0 });
    });

    test("runs are listed newest first, page by page, by function, state and event", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.start("r2", { fn: "shop-other" });
      await world.start("r3");
      await world.advance("r1", { next: end("completed") });
      await rerun(world, "r1", "r4");
      const list = async (filter: object) =>
        (await world.store.reads.runs(env, { limit: 10, ...filter })).map(({ id }) => id);
      expect(await list({})).toEqual(["r4", "r3", "r2", "r1"]);
      expect(await list({ limit: 2 })).toEqual(["r4", "r3"]);
      expect(await list({ before: "r3" })).toEqual(["r2", "r1"]);
      expect(await list({ fn: "shop-other" })).toEqual(["r2"]);
      expect(await list({ state: "completed" })).toEqual(["r1"]);
      expect(await list({ state: "queued", fn })).toEqual(["r4", "r3"]);
      expect(await list({ eventId: "event of r1" })).toEqual(["r4", "r1"]);
      expect(await list({ state: "failed" })).toEqual([]);
      expect(await world.store.reads.run(env, "r9")).toBeNull();
      expect(await world.store.reads.runMemo(env, "r9")).toBeNull();
    });

    test("open runs are counted by state, and due ones by function", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.start("r2");
      await world.start("r3", { fn: "shop-other" });
      await world.startWaiting("r4", [timeWait("s", world.clock.wallMs() + 10)]);
      const other = { ...nothingOpen, queued: 1, due: 1 };
      const mine = { ...nothingOpen, queued: 1, running: 1, waiting: 1, due: 1 };
      const counts = {
        queued: 2,
        running: 1,
        waiting: 1,
        parked: 0,
        dueByFunction: { [fn]: 1, "shop-other": 1 },
        byFunction: { [fn]: mine, "shop-other": other },
      };
      expect(await world.store.reads.counts(env)).toEqual(counts);
      world.clock.advance(10);
      expect(await world.store.reads.counts(env)).toEqual({
        ...counts,
        dueByFunction: { [fn]: 2, "shop-other": 1 },
        byFunction: { [fn]: { ...mine, due: 2 }, "shop-other": other },
      });
    });

    everyWrite(
      open,
      "end",
      async (world) => {
        await invoke(world);
        return () => world.advance("child", { steps: [newStep("s")], next: end("completed") });
      },
      ({ woken: _, ...answer }) => answer,
    );
  });

  describe("cancel", () => {
    test("a cancelled run has ended, and leaves no job and no wait", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [signalWait("s", "sig"), timeWait("t", world.clock.wallMs() + 10)]);
      expect(await cancel(world)).toEqual({ kind: "cancelled", woken: [], ingested: null, freed: false });
      expect(await world.memo("r1")).toMatchObject({
        run: { state: "cancelled", result: '"cancelled"', endedAt: world.clock.wallMs(), dueAt: null },
        waits: [],
      });
      world.clock.advance(10);
      expect((await world.lease()).jobs).toEqual([]);
      expect(await world.store.signal(env, "sig", value(1))).toEqual({ kind: "nobody-waits" });
    });

    test("cancel against a worker's save: whichever is second changes nothing", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await cancel(world);
      const patch = { steps: [newStep("s")], waits: [signalWait("t", "sig")] };
      expect(await world.tryAdvance("r1", patch)).toEqual({ kind: "ended", state: "cancelled" });
      expect(await world.tryAdvance("r1", { ...patch, next: end("completed") })).toEqual({
        kind: "ended",
        state: "cancelled",
      });
      expect(await world.memo("r1")).toMatchObject({ run: { state: "cancelled" }, steps: [], waits: [] });
    });

    test("cancel against the end: one end state stands and both are told it", async () => {
      for (const cancelFirst of [true, false]) {
        const world = await openWorld(open);
        await world.startLeased("r1");
        const doEnd = () => world.tryAdvance("r1", { next: end("completed") });
        // Of two calls at the same time either may be first: two sessions of a server are in no order.
        const asked = cancelFirst ? [cancel(world), doEnd()] : [doEnd(), cancel(world)];
        const answers = await Promise.all(asked);
        const [cancelled, ended] = cancelFirst ? answers : [answers[1], answers[0]];
        const isCancelled = cancelled?.kind === "cancelled";
        expect(cancelled).toMatchObject(isCancelled ? {} : { kind: "already-ended", state: "completed" });
        expect(ended).toMatchObject(isCancelled ? { kind: "ended", state: "cancelled" } : { kind: "advanced" });
        expect(await world.run("r1")).toMatchObject({ state: isCancelled ? "cancelled" : "completed" });
      }
    });

    test("cancel against an event that would resume it: no wait, no job, no outcome", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      await world.ingest([newEvent("e1", { name: "order/shipped" })], [], { leaseTo: "w1" });
      await cancel(world);
      const waits = [{ runId: "r1", stepId: "s" }];
      expect(await world.store.resume({ env, jobId: "deliver:e1", fence: 1, waits, outcome: value(1) })).toEqual({
        kind: "resumed",
        woken: [],
      });
      expect(await world.memo("r1")).toMatchObject({ run: { state: "cancelled" }, steps: [], waits: [] });
      expect((await world.lease()).jobs).toEqual([]);
    });

    test("a cancelled run keeps its key unless told to give it back", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"kept"' });
      await world.start("r2", { key: '"back"' });
      await cancel(world, "r1");
      await cancel(world, "r2", { releaseKey: true });
      expect(await world.start("r3", { key: '"kept"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      expect(await world.start("r4", { key: '"back"' })).toMatchObject({ kind: "started" });
    });

    test("a run that waits for the cancelled one is woken with its error", async () => {
      const world = await openWorld(open);
      await invoke(world);
      expect(await cancel(world, "child")).toMatchObject({ woken: [{ runId: "parent", fn, leasedBy: null }] });
      expect(await world.outcome("parent", "s")).toEqual({ kind: "error", json: '"cancelled"' });
    });

    test("what cancelling sends is stored with it, and nothing when its registration is stale", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      await world.store.register({ env, app: "shop", functions: [{ fn, id: "bill", config: "{}", crons: [] }] });
      const input = { env, runId: "r1", result: "null", releaseKey: false };
      const events = [newEvent("e2"), newEvent("e3", { name: "nobody/waits" })].map((event, n) => ({
        ...event,
        ifAwaited: n === 1,
      }));
      const stale = { registration: 0, events, pairs: [startPair("r2")] };
      expect(await world.store.cancel({ ...input, ingest: stale })).toEqual({
        kind: "stale-registration",
        registration: 1,
      });
      expect(await world.run("r1")).toMatchObject({ state: "queued" });
      const cancelled = await world.store.cancel({ ...input, ingest: { ...stale, registration: 1 } });
      expect(cancelled).toMatchObject({ kind: "cancelled", ingested: { decisions: [{ runId: "r2" }] } });
      expect(await world.store.reads.event(env, "e2")).not.toBeNull();
      expect(await world.store.reads.event(env, "e3")).toBeNull();
    });

    test("a run that does not exist is unknown", async () => {
      const world = await openWorld(open);
      expect(await cancel(world)).toEqual({ kind: "unknown" });
    });

    test("cancelling again tells that it has ended and changes nothing", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' });
      await cancel(world);
      const rows = await world.rows();
      world.clock.advance(10);
      expect(await cancel(world, "r1", { releaseKey: true })).toEqual({ kind: "already-ended", state: "cancelled" });
      expect(await world.rows()).toEqual(rows);
    });
  });

  describe("rerun", () => {
    test("a rerun has the old run's event, key, subject and generation, so the same destination keys", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await world.advance("r1", { steps: [newStep("s")], next: end("failed") });
      expect(await rerun(world, "r1", "r2")).toEqual({ kind: "started", runId: "r2", leased: null });
      const { eventId, key, subject, generation } = await world.run("r1");
      expect(await world.run("r2")).toMatchObject({
        eventId,
        key,
        subject,
        generation,
        rerunOf: "r1",
        state: "queued",
      });
      expect((await world.memo("r2")).steps).toEqual([]);
      expect(await world.store.reads.decisionsOfEvent(env, eventId)).toHaveLength(1);
    });

    test("a rerun moves the key's holder: duplicates then name the newest run", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await world.advance("r1", { next: end("failed") });
      await rerun(world, "r1", "r2");
      expect(await world.claimOf('"k"')).toMatchObject({
        holder: "r2",
        fence: 2,
        state: "in-flight",
        generation: "r1",
      });
      expect(await world.start("r3", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r2" });
      await rerun(world, "r1", "r4");
      await rerun(world, "r2", "r5");
      expect(await world.start("r6", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r5" });
      expect(await world.run("r5")).toMatchObject({ rerunOf: "r2", generation: "r1" });
    });

    test("duplicates of the event name the newest run too, with or without a key", async () => {
      const world = await openWorld(open);
      await world.start("r1", {}, { callerId: "id" });
      await rerun(world, "r1", "r2");
      expect(await world.start("r3", {}, { callerId: "id" })).toMatchObject({ kind: "duplicate-event", runId: "r2" });
    });

    test("the end of the new run settles the key; the old run no longer may", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await rerun(world, "r1", "r2", "w1");
      await world.advance("r1", { next: end("failed", '"no"', true) });
      expect(await world.claimOf('"k"')).toMatchObject({ holder: "r2", state: "in-flight" });
      await world.advance("r2", { next: end("completed") });
      expect(await world.claimOf('"k"')).toMatchObject({ holder: "r2", state: "settled" });
    });

    test("a rerun of an old window's run leaves the key to the run that holds it now", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' });
      world.clock.advance(dayMs);
      await world.start("r2", { key: '"k"' });
      await rerun(world, "r1", "r3");
      expect(await world.claimOf('"k"')).toMatchObject({ holder: "r2" });
      expect(await world.start("r4", { key: '"k"' })).toMatchObject({ runId: "r2" });
    });

    test("a rerun can be born leased", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      const answer = await rerun(world, "r1", "r2", "w1");
      const leased = answer.kind === "started" ? answer.leased : null;
      expect(runJob(leased ?? undefined)).toMatchObject({
        jobId: "r2",
        fence: 1,
        memo: { run: { id: "r2", state: "running", rerunOf: "r1" }, event: { id: "event of r1" } },
      });
    });

    test("a run that does not exist is unknown", async () => {
      const world = await openWorld(open);
      expect(await rerun(world, "r1", "r2")).toEqual({ kind: "unknown" });
    });

    everyWrite(open, "rerun", async (world) => {
      await world.start("r1", { key: '"k"' });
      return () => rerun(world, "r1", "r2");
    });
  });
}
