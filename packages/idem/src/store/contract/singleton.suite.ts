// At most one open run of a function for each singleton key. The next one is skipped, or takes the place of the one that is open.
import { describe, expect, test } from "vitest";
import type { EndState } from "../../model/run.ts";
import type { StartPair } from "../ingest.ts";
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
  runWait,
  startFlow,
  startPair,
  value,
  type World,
} from "./world.ts";

const skip = (key = "{}", over: Partial<StartPair> = {}): Partial<StartPair> => ({
  flow: startFlow({ singleton: { key, mode: "skip" } }),
  ...over,
});
const result = '{"name":"Error","message":"replaced"}';
const replace = (key = "{}", over: Partial<StartPair> = {}): Partial<StartPair> => ({
  flow: startFlow({ singleton: { key, mode: "cancel", result } }),
  ...over,
});
const openRuns = async (world: World) =>
  (await world.store.reads.runPage(env, { isOpen: true, limit: 100, examinedMax: 100 })).rows.map(({ id }) => id);
const announced = async (world: World) =>
  (await world.lease("w9", { functions: [] })).jobs.map((job) => [job.kind, job.jobId]);

export function singletonSuite(open: OpenStore): void {
  describe("singleton, skip", () => {
    test("while a run of the key is open the next is skipped, and its decision names that run", async () => {
      const world = await openWorld(open);
      await world.start("r1", skip());
      expect(await world.start("r2", skip("{}", { key: '"k"' }))).toMatchObject({
        kind: "singleton-skipped",
        reason: "run r1 of the same singleton key is still open",
        runId: "r1",
        firstEventId: null,
      });
      expect(await openRuns(world)).toEqual(["r1"]);
      expect(await world.store.reads.claim(env, `fn:${fn}`, '"k"')).toBeNull();
    });

    for (const state of ["completed", "failed", "cancelled"] as EndState[]) {
      test(`once it is ${state} the next may start`, async () => {
        const world = await openWorld(open);
        await world.start("r1", skip("{}", { leaseTo: "w1" }));
        if (state === "cancelled")
          await world.store.cancel({ env, runId: "r1", result: "null", releaseKey: false, ingest: null });
        else await world.advance("r1", { next: end(state) });
        expect(await world.start("r2", skip())).toMatchObject({ kind: "started", runId: "r2" });
        expect(await world.start("r3", skip())).toMatchObject({ kind: "singleton-skipped", runId: "r2" });
      });
    }

    test("a run that sleeps, or whose worker was lost, is still open", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")], skip());
      world.clock.advance(400 * 24 * 60 * 60 * 1_000);
      await world.store.sweep({ max: 100, repair: false });
      expect(await world.start("r2", skip())).toMatchObject({ kind: "singleton-skipped" });
    });

    test("each key, each function and each environment has its own", async () => {
      const world = await openWorld(open);
      expect(await world.start("r1", skip("1"))).toMatchObject({ kind: "started" });
      expect(await world.start("r2", skip("2"))).toMatchObject({ kind: "started" });
      expect(await world.start("r3", skip("1", { fn: "shop-other" }))).toMatchObject({ kind: "started" });
      const { decisions } = await world.ingest([newEvent("e")], [startPair("r1", skip("1"))], { env: "elsewhere" });
      expect(decisions).toMatchObject([{ kind: "started" }]);
    });

    test("a skipped event takes no part of a rate limit, and a refused one no singleton", async () => {
      const world = await openWorld(open);
      const both = (limit: number): Partial<StartPair> => ({
        flow: startFlow({
          rateLimit: { id: "rate", limit, periodMs: 1_000 },
          singleton: { key: "{}", mode: "skip" },
        }),
      });
      await world.start("r1", { ...both(2), leaseTo: "w1" });
      expect(await world.start("r2", both(2))).toMatchObject({ kind: "singleton-skipped" });
      await world.advance("r1", { next: end("completed") });
      expect(await world.start("r3", both(1))).toMatchObject({ kind: "rate-limited" });
      expect(await world.start("r4", both(2))).toMatchObject({ kind: "started" });
    });

    test("of eight that ask at once one starts", async () => {
      const world = await openWorld(open);
      const decided = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => world.start(`r${n}`, skip())));
      const started = decided.filter(({ kind }) => kind === "started");
      expect(started).toHaveLength(1);
      expect(new Set(decided.map(({ runId }) => runId))).toEqual(new Set([started[0]!.runId]));
    });

    test("an invoke that was skipped gives the reason at once, not the other run's answer", async () => {
      const world = await openWorld(open);
      await world.start("r1", skip());
      await world.startLeased("parent");
      const ingest = { registration: null, events: [newEvent("invoke")], pairs: [startPair("child", skip())] };
      const answer = await world.advance("parent", { waits: [runWait("s")], ingest, next: forever });
      const message = `Function "${fn}" was not started: run r1 of the same singleton key is still open`;
      expect(answer.news).toMatchObject([{ stepId: "s", outcome: { kind: "error" } }]);
      expect(JSON.parse(answer.news[0]!.outcome.json)).toEqual({ name: "Error", message });
    });

    everyWrite(open, "ingest of a singleton", async (world) => async () => {
      const one = await world.ingest([newEvent("e1")], [startPair("r1", skip())]);
      const two = await world.ingest([newEvent("e2")], [startPair("r2", skip())]);
      return [...one.decisions, ...two.decisions];
    });
  });

  describe("singleton, cancel", () => {
    test("the next takes the place of the open one, which is cancelled in the same commit", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")], replace());
      const ingested = await world.ingest([newEvent("e2")], [startPair("r2", replace())]);
      expect(ingested).toMatchObject({
        decisions: [{ kind: "started", runId: "r2" }],
        cancelled: [{ runId: "r1", result }],
        queued: true,
      });
      expect(await world.memo("r1")).toMatchObject({ run: { state: "cancelled", result }, waits: [] });
      expect(await openRuns(world)).toEqual(["r2"]);
      expect(await world.decision("event of r1")).toMatchObject({ kind: "started", runId: "r1" });
    });

    test("it gives its function key back where the rule says so, and keeps it otherwise", async () => {
      for (const releaseKey of [true, false]) {
        const world = await openWorld(open);
        const rule = { key: "{}", mode: "cancel", result, releaseKey } as const;
        const keyed = (key: string) => ({ key, windowMs: 1_000, flow: startFlow({ singleton: rule }) });
        await world.startLeased("r1", keyed("k"));
        await world.start("r2", keyed("other"));
        const kind = releaseKey ? "started" : "duplicate-key";
        expect(await world.start("r3", keyed("k"))).toMatchObject({ kind });
      }
    });

    test("its worker finds that it ended, and saves nothing more", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", replace());
      await world.start("r2", replace());
      expect(await world.tryAdvance("r1", { steps: [newStep("s")] })).toEqual({ kind: "ended", state: "cancelled" });
      expect((await world.memo("r1")).steps).toEqual([]);
    });

    test("its end is told by whoever leases next, whatever functions it has, and by nobody twice", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", replace());
      await world.start("r2", replace());
      const { jobs } = await world.lease("w2", { functions: [] });
      expect(jobs).toMatchObject([
        { kind: "announce", jobId: "announce:r1", fence: 1, memo: { run: { id: "r1", state: "cancelled" } } },
      ]);
      expect(await announced(world)).toEqual([]);
      // Lost with its worker, it is announced by the next.
      await world.store.handBack("w2");
      const [job] = (await world.lease("w3", { functions: [] })).jobs;
      const ended = { env, jobId: job!.jobId, fence: job!.fence, waits: [], outcome: value(null) };
      expect(await world.store.resume({ ...ended, fence: 1 })).toEqual({ kind: "fenced" });
      expect(await world.store.resume(ended)).toEqual({ kind: "resumed", woken: [] });
      expect(await announced(world)).toEqual([]);
    });

    test("who waits for the cancelled run is woken with its error", async () => {
      const world = await openWorld(open);
      await world.startLeased("parent");
      const ingest = { registration: null, events: [newEvent("invoke")], pairs: [startPair("child", replace())] };
      await world.advance("parent", { waits: [runWait("s")], ingest, next: forever });
      await world.start("r2", replace());
      expect(await world.outcome("parent", "s")).toEqual({ kind: "error", json: result });
      expect(await world.run("parent")).toMatchObject({ state: "queued" });
    });

    test("its function key stays taken, and a duplicate of it cancels nobody", async () => {
      const world = await openWorld(open);
      await world.start("r1", replace("{}", { key: '"a"' }));
      expect(await world.start("r2", replace("{}", { key: '"a"' }))).toMatchObject({ kind: "duplicate-key" });
      expect(await openRuns(world)).toEqual(["r1"]);
      await world.start("r3", replace("{}", { key: '"b"' }));
      expect(await world.start("r4", replace("{}", { key: '"a"' }))).toMatchObject({
        kind: "duplicate-key",
        runId: "r1",
      });
      expect(await openRuns(world)).toEqual(["r3"]);
    });

    test("of eight that come at once one is alive, and each of the others was told of", async () => {
      const world = await openWorld(open);
      const runs = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `r${n}`);
      await Promise.all(runs.map((id) => world.start(id, replace("{}", { leaseTo: "w1" }))));
      const [alive, ...none] = await openRuns(world);
      expect(none).toEqual([]);
      const others = runs.filter((id) => id !== alive);
      expect((await announced(world)).map(([, id]) => id).sort()).toEqual(others.map((id) => `announce:${id}`));
    });

    test("of two in one call the second is alive and nobody is told to execute the first", async () => {
      const world = await openWorld(open);
      const pairs = [0, 1].map((event) => startPair(`r${event}`, replace("{}", { event, leaseTo: "w1" })));
      const { leased, cancelled } = await world.ingest([newEvent("e0"), newEvent("e1")], pairs);
      expect(leased.map(({ jobId }) => jobId)).toEqual(["r1"]);
      expect(cancelled).toEqual([{ runId: "r0", result }]);
      expect(await openRuns(world)).toEqual(["r1"]);
    });

    test("a run that starts its own successor is cancelled by it, and finds that it ended", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", replace());
      const ingest = { registration: null, events: [newEvent("again")], pairs: [startPair("r2", replace())] };
      const patch = { steps: [newStep("send")], ingest };
      expect(await world.tryAdvance("r1", patch)).toEqual({ kind: "ended", state: "cancelled" });
      expect(await world.tryAdvance("r1", patch)).toEqual({ kind: "ended", state: "cancelled" });
      expect(await openRuns(world)).toEqual(["r2"]);
      expect(await world.memo("r1")).toMatchObject({ waits: [], run: { state: "cancelled", result } });
    });

    everyWrite(
      open,
      "ingest that replaces a singleton",
      async (world) => {
        await world.startLeased("r1", replace());
        return () => world.ingest([newEvent("e2")], [startPair("r2", replace("{}", { leaseTo: "w1" }))]);
      },
      ({ decisions, leased }) => ({ decisions, leased }),
    );
  });
}
