// A run sleeps until a time, an event, a signal or another run's end. Every wait ends at most once, and none is missed.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import type { StartPair } from "../ingest.ts";
import {
  collect,
  decidedPair,
  end,
  env,
  eventWait,
  everyWrite,
  failure,
  fn,
  forever,
  keepGoing,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  type Patch,
  plainRerun,
  runJob,
  runWait,
  signalWait,
  startPair,
  timeWait,
  value,
  type World,
} from "./world.ts";

const shipped = (id: string, over = {}) => newEvent(id, { name: "order/shipped", ...over });

/** The event arrives and its delivery is held by `w1`, under fence 1. */
const arrive = (world: World, id: string) => world.ingest([shipped(id)], [], { leaseTo: "w1" });

const resume = (world: World, eventId: string, over: { runId?: string; stepId?: string; fence?: number } = {}) =>
  world.store.resume({
    env,
    jobId: `deliver:${eventId}`,
    fence: over.fence ?? 1,
    waits: [{ runId: over.runId ?? "r1", stepId: over.stepId ?? "s" }],
    outcome: value(eventId),
  });

const candidates = async (world: World, eventId: string, probes: { path: string; value: string }[] = []) =>
  (await world.store.reads.waitCandidates(env, eventId, probes)).map(({ runId, stepId }) => `${runId} ${stepId}`);

/** `parent` invokes: it starts the pair's run and waits for it. */
const invoke = (world: World, pair: Partial<StartPair>, patch: Patch = {}) =>
  world.advance("parent", {
    waits: [runWait("s")],
    ingest: { registration: null, events: [newEvent("invoke")], pairs: [startPair("child", pair)] },
    next: forever,
    ...patch,
  });

export function waitsSuite(open: OpenStore): void {
  describe("time", () => {
    test("a sleep is over at its time: recorded before the memo is read", async () => {
      const world = await openWorld(open);
      const startedAt = world.clock.wallMs();
      const wait = timeWait("s", startedAt + 1_000);
      await world.startWaiting("r1", [wait]);
      const { waits } = await world.memo("r1");
      expect(waits).toEqual([
        {
          runId: "r1",
          stepId: "s",
          name: "name of s",
          kind: "time",
          stepKind: "sleep",
          timeoutAt: startedAt + 1_000,
          eventName: null,
          rest: null,
          signal: null,
          childRunId: null,
          startedAt,
        },
      ]);
      world.clock.advance(999);
      expect((await world.lease()).jobs).toEqual([]);
      world.clock.advance(6);
      const { memo } = runJob((await world.lease()).jobs[0]);
      expect(memo.waits).toEqual([]);
      expect(memo.steps).toEqual([
        {
          stepId: "s",
          name: "name of s",
          repeat: 0,
          kind: "sleep",
          outcome: wait.onTimeout,
          attempt: 1,
          startedAt,
          endedAt: startedAt + 1_005,
          stamp: expect.any(Number),
          worker: null,
        },
      ]);
    });

    test("several sleeps over at once are recorded in the order they ended", async () => {
      const world = await openWorld(open);
      const now = world.clock.wallMs();
      await world.startWaiting("r1", [timeWait("a", now + 30), timeWait("b", now + 10), timeWait("c", now + 99)]);
      world.clock.advance(50);
      const { memo } = runJob((await world.lease()).jobs[0]);
      expect(memo.steps.map(({ stepId }) => stepId)).toEqual(["b", "a"]);
      expect(memo.waits.map(({ stepId }) => stepId)).toEqual(["c"]);
    });

    test("a sleep that is already over is news at once: the run is not suspended", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const answer = await world.advance("r1", { waits: [timeWait("s", world.clock.wallMs())], next: forever });
      expect(answer).toMatchObject({ leased: true, news: [{ stepId: "s" }] });
    });

    test("a worker that holds its run collects what is over", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [timeWait("s", world.clock.wallMs() + 10)] });
      expect((await world.advance("r1", { next: collect })).news).toEqual([]);
      world.clock.advance(10);
      expect((await world.advance("r1", { next: collect })).news).toMatchObject([{ stepId: "s" }]);
    });

    test("steps collected together with news come with their stamps, so the order of recording is known", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [eventWait("s"), timeWait("t", world.clock.wallMs() + 1_000)] });
      await arrive(world, "e1");
      await resume(world, "e1");
      world.clock.advance(1_000);
      const { news, stamps } = await world.advance("r1", { steps: [newStep("own")], next: collect });
      const stampOf = (stepId: string) => news.find((step) => step.stepId === stepId)!.stamp;
      expect(stampOf("s")).toBeLessThan(stamps![0]!);
      expect(stamps![0]!).toBeLessThan(stampOf("t"));
      const { steps } = await world.memo("r1");
      expect(steps.map(({ stepId }) => stepId)).toEqual(["s", "own", "t"]);
      expect(steps[1]!.stamp).toBe(stamps![0]);
      expect((await world.advance("r1", { steps: [newStep("more")] })).stamps).toBeNull();
    });

    test("a wait for a step that waits or has its outcome already is ignored", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const now = world.clock.wallMs();
      await world.advance("r1", { steps: [newStep("a")], waits: [timeWait("b", now + 10)] });
      await world.advance("r1", { waits: [timeWait("a", now + 99), timeWait("b", now + 99)] });
      expect((await world.memo("r1")).waits.map(({ stepId, timeoutAt }) => [stepId, timeoutAt])).toEqual([
        ["b", now + 10],
      ]);
    });
  });

  describe("events", () => {
    test("an event that arrives after the wait began ends it, and the run is due at once", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s", { timeoutAt: world.clock.wallMs() + dayMs, rest: "true" })]);
      await arrive(world, "e1");
      expect(await world.store.reads.waitCandidates(env, "e1", [])).toEqual([
        { runId: "r1", stepId: "s", rest: "true", event: await world.store.reads.event(env, "event of r1") },
      ]);
      expect(await resume(world, "e1")).toEqual({ kind: "resumed", woken: [{ runId: "r1", fn, leasedBy: null }] });
      expect(await world.run("r1")).toMatchObject({ state: "queued", dueAt: null });
      const { memo, fence } = runJob((await world.lease("w2")).jobs[0]);
      expect(fence).toBe(2);
      expect(memo).toMatchObject({ waits: [], steps: [{ stepId: "s", outcome: value("e1"), kind: "wait-for-event" }] });
    });

    test("an event from before the wait is no candidate, one in the same millisecond after it is", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      await arrive(world, "e1");
      await world.startWaiting("r2", [eventWait("s")]);
      await arrive(world, "e2");
      expect(await candidates(world, "e1")).toEqual(["r1 s"]);
      expect(await candidates(world, "e2")).toEqual(["r1 s", "r2 s"]);
    });

    test("candidates are those of the same name whose equality holds", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("any")]);
      await world.startWaiting("r2", [eventWait("id", { path: "data.id", value: "7" })]);
      await world.startWaiting("r3", [eventWait("text", { path: "data.id", value: '"7"' })]);
      await world.startWaiting("r4", [eventWait("path", { path: "data.no", value: "7" })]);
      await world.startWaiting("r5", [eventWait("name", { eventName: "order/other" })]);
      await arrive(world, "e1");
      const { reads } = world.store;
      expect(await reads.waitPaths(env, "order/shipped")).toEqual(["", "data.id", "data.no"]);
      expect(await reads.waitPaths(env, "order/unheard")).toEqual([]);
      expect(await candidates(world, "e1")).toEqual(["r1 any"]);
      const probes = [
        { path: "data.id", value: "7" },
        { path: "data.no", value: "8" },
      ];
      expect((await candidates(world, "e1", probes)).sort()).toEqual(["r1 any", "r2 id"]);
      expect(await candidates(world, "no such event", probes)).toEqual([]);
    });

    test("the names that runs wait for, and that the newest of those that no longer wait had waited for", async () => {
      const world = await openWorld(open);
      const { reads } = world.store;
      const waits = (stepId: string, eventName: string) =>
        eventWait(stepId, { eventName, input: JSON.stringify({ event: eventName, until: "2030-01-01" }) });
      await world.startWaiting("r1", [
        waits("s1", "a"),
        waits("s2", "b"),
        timeWait("s3", world.clock.wallMs() + dayMs),
      ]);
      await world.startWaiting("r2", [waits("s1", "c"), eventWait("s2", { eventName: "d" })]);
      await world.startWaiting("r3", [waits("s1", "b")]);
      expect(await reads.awaitedNames(env, 10)).toEqual(["a", "b", "c", "d"]);
      await world.store.cancel({ env, runId: "r1", result: "null", releaseKey: true, ingest: null });
      await world.ingest([newEvent("e1", { name: "c" })], [], { leaseTo: "w1" });
      await resume(world, "e1", { runId: "r2", stepId: "s1" });
      expect(await reads.awaitedNames(env, 10)).toEqual(["b", "c", "d"]);
      expect(await reads.awaitedNames("elsewhere", 10)).toEqual([]);
      // A step of a later run: the one that waited is not among those that are looked at.
      await world.startLeased("r9");
      await world.advance("r9", { steps: [newStep("s")] });
      expect(await reads.awaitedNames(env, 1)).toEqual(["b", "d"]);
      expect(await reads.awaitedNames(env, 2)).toEqual(["b", "c", "d"]);
    });

    test("of two events one ends the wait, and the other finds it ended", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      await arrive(world, "e1");
      await arrive(world, "e2");
      // Which of them comes first is open where two sessions may write at once.
      const events = ["e1", "e2"];
      const answers = await Promise.all(events.map((event) => resume(world, event)));
      const first = answers.findIndex((answer) => answer.kind === "resumed" && answer.woken.length > 0);
      expect(answers[first]).toMatchObject({ kind: "resumed", woken: [{ runId: "r1" }] });
      expect(answers[1 - first]).toMatchObject({ kind: "resumed", woken: [] });
      expect(await world.outcome("r1", "s")).toEqual(value(events[first]));
    });

    test("event against timeout: who is second changes nothing", async () => {
      for (const timeoutFirst of [true, false]) {
        const world = await openWorld(open);
        await world.startWaiting("r1", [eventWait("s", { timeoutAt: world.clock.wallMs() + 10 })]);
        await arrive(world, "e1");
        world.clock.advance(10);
        const [one, other] = timeoutFirst
          ? [await world.lease("w2"), await resume(world, "e1")]
          : [await resume(world, "e1"), await world.lease("w2")];
        expect([one, other]).toHaveLength(2);
        const { steps, waits } = await world.memo("r1");
        expect(waits).toEqual([]);
        expect(steps.map(({ outcome }) => outcome)).toEqual([timeoutFirst ? value("timed out") : value("e1")]);
      }
    });

    test("a delivery nobody finished is still there for the next worker", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      await world.ingest([shipped("e1")]);
      const { jobs } = await world.lease("w2");
      expect(jobs).toMatchObject([{ kind: "deliver", jobId: "deliver:e1", fence: 1 }]);
      expect(await candidates(world, "e1")).toEqual(["r1 s"]);
      expect(await resume(world, "e1")).toMatchObject({ kind: "resumed", woken: [{ runId: "r1" }] });
      expect(await resume(world, "e1")).toEqual({ kind: "fenced" });
      expect((await world.lease("w3")).jobs.map(({ jobId }) => jobId)).toEqual(["r1"]);
    });

    test("a delivery under another fence ends no wait", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      await arrive(world, "e1");
      expect(await resume(world, "e1", { fence: 0 })).toEqual({ kind: "fenced" });
      expect((await world.memo("r1")).waits).toHaveLength(1);
    });

    test("a run held by a worker stays with it; the worker is named so that it collects", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [eventWait("s")] });
      await arrive(world, "e1");
      expect(await resume(world, "e1")).toMatchObject({ woken: [{ runId: "r1", leasedBy: "w1" }] });
      expect((await world.lease("w2")).jobs).toEqual([]);
      expect((await world.advance("r1", { next: forever })).leased).toBe(true);
    });

    test("an event sent only if awaited is stored when a run waits for its name, else left out with its pairs", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [eventWait("s")]);
      await world.startLeased("r2");
      const { ingested } = await world.advance("r2", {
        ingest: {
          registration: null,
          events: [
            { ...newEvent("e1", { name: "order/unheard" }), ifAwaited: true },
            { ...shipped("e2"), ifAwaited: true },
            newEvent("e3", { name: "order/unheard" }),
          ],
          pairs: [startPair("r3"), startPair("r4", { event: 1 }), startPair("r5", { event: 2 })],
        },
      });
      expect(ingested!.events.map(({ id }) => id)).toEqual(["e2", "e3"]);
      expect(ingested!.decisions.map(({ runId }) => runId)).toEqual(["r4", "r5"]);
      expect(await world.store.reads.event(env, "e1")).toBeNull();
      expect(await world.store.reads.run(env, "r3")).toBeNull();
      expect((await world.lease("w2", { functions: [] })).jobs).toMatchObject([{ jobId: "deliver:e2" }]);
    });
  });

  describe("signals", () => {
    test("a signal ends the one wait for it, once", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [signalWait("s", "sig")]);
      expect(await world.store.signal(env, "other", value(1))).toEqual({ kind: "nobody-waits" });
      expect(await world.store.signal(env, "sig", value(2))).toEqual({
        kind: "resumed",
        woken: { runId: "r1", fn, leasedBy: null },
      });
      expect(await world.store.signal(env, "sig", value(3))).toEqual({ kind: "nobody-waits" });
      expect(await world.outcome("r1", "s")).toEqual(value(2));
    });

    test("a signal that is taken is refused at once, with the outcome the second brought", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [signalWait("s", "sig")]);
      await world.startLeased("r2");
      const answer = await world.advance("r2", { waits: [signalWait("s", "sig", { onTaken: failure("taken") })] });
      expect(answer).toMatchObject({ leased: true, news: [{ stepId: "s", outcome: failure("taken") }] });
      expect((await world.memo("r2")).waits).toEqual([]);
      expect(await world.store.signal(env, "sig", value(1))).toMatchObject({ woken: { runId: "r1" } });
    });

    test("a signal can be taken over: the first goes on waiting, until its timeout", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [signalWait("s", "sig", { timeoutAt: world.clock.wallMs() + 10 })]);
      await world.startWaiting("r2", [signalWait("s", "sig", { onTaken: "replace" })]);
      expect(await world.store.signal(env, "sig", value(1))).toMatchObject({ woken: { runId: "r2" } });
      expect(await world.store.signal(env, "sig", value(2))).toEqual({ kind: "nobody-waits" });
      expect((await world.memo("r1")).waits).toMatchObject([{ stepId: "s", signal: null }]);
      world.clock.advance(10);
      await world.lease("w2", { max: 1 });
      expect(await world.outcome("r1", "s")).toEqual(value("timed out"));
    });

    test("a repeated wait for a signal does not find itself in its way", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const patch = { waits: [signalWait("s", "sig")] };
      await world.advance("r1", patch);
      expect((await world.advance("r1", patch)).news).toEqual([]);
      expect((await world.memo("r1")).waits).toHaveLength(1);
    });
  });

  describe("runs", () => {
    test("the end of an invoked run wakes the one that waits, with its value or its error", async () => {
      for (const state of ["completed", "failed"] as const) {
        const world = await openWorld(open);
        await world.startLeased("parent");
        expect(await invoke(world, { leaseTo: "w1" })).toMatchObject({ leased: false });
        expect((await world.memo("parent")).waits).toMatchObject([{ kind: "run", childRunId: "child" }]);
        const { woken } = await world.advance("child", { next: end(state, '"result"') });
        expect(woken).toEqual([{ runId: "parent", fn, leasedBy: null }]);
        const kind = state === "completed" ? "value" : "error";
        expect(await world.outcome("parent", "s")).toEqual({ kind, json: '"result"' });
        expect(await world.run("parent")).toMatchObject({ state: "queued" });
      }
    });

    test("invoking by a key that is taken waits for the run that is first", async () => {
      const world = await openWorld(open);
      await world.startLeased("first", { key: '"k"' });
      await world.startLeased("parent");
      const { ingested } = await invoke(world, { key: '"k"' });
      expect(ingested!.decisions).toMatchObject([{ kind: "duplicate-key", runId: "first" }]);
      expect((await world.memo("parent")).waits).toMatchObject([{ childRunId: "first" }]);
      await world.advance("first", { next: end("completed", "42") });
      expect(await world.outcome("parent", "s")).toEqual(value(42));
    });

    test("invoking by the key of a run that has ended receives its result at once", async () => {
      const world = await openWorld(open);
      await world.startLeased("first", { key: '"k"' });
      await world.advance("first", { next: end("completed", "42") });
      await world.startLeased("parent");
      expect(await invoke(world, { key: '"k"' })).toMatchObject({
        leased: true,
        news: [{ stepId: "s", kind: "invoke", outcome: value(42) }],
      });
      expect((await world.memo("parent")).waits).toEqual([]);
    });

    test("invoking by the key of a run that was rerun waits for the newest", async () => {
      const world = await openWorld(open);
      await world.startLeased("first", { key: '"k"' });
      await world.advance("first", { next: end("failed") });
      await world.store.rerun({ ...plainRerun, env, runId: "first", newRunId: "second", rank: 0, leaseTo: "w1" });
      await world.startLeased("parent");
      await invoke(world, { key: '"k"' });
      expect((await world.memo("parent")).waits).toMatchObject([{ childRunId: "second" }]);
    });

    test("a run invoked before and rerun since is waited for in its newest life", async () => {
      const world = await openWorld(open);
      await world.startLeased("parent");
      await invoke(world, { leaseTo: "w1" }, { waits: [], next: keepGoing });
      await world.advance("child", { next: end("failed") });
      await world.store.rerun({ ...plainRerun, env, runId: "child", newRunId: "again", rank: 0, leaseTo: null });
      await invoke(world, { leaseTo: "w1" });
      expect((await world.memo("parent")).waits).toMatchObject([{ childRunId: "again" }]);
    });

    test("an invoked run that was refused gives the refusal at once", async () => {
      const world = await openWorld(open);
      await world.startLeased("parent");
      const ingest = { registration: null, events: [newEvent("invoke")], pairs: [decidedPair()] };
      expect(await invoke(world, {}, { ingest })).toMatchObject({
        leased: true,
        news: [{ stepId: "s", outcome: failure("refused") }],
      });
    });

    test("who waits for a run no longer than its timeout goes on without it", async () => {
      const world = await openWorld(open);
      await world.startLeased("parent");
      await invoke(world, { leaseTo: "w1" }, { waits: [runWait("s", { timeoutAt: world.clock.wallMs() + 10 })] });
      world.clock.advance(10);
      expect(runJob((await world.lease("w2")).jobs[0]).memo.steps).toMatchObject([{ outcome: value("timed out") }]);
      const { woken } = await world.advance("child", { next: end("completed") });
      expect(woken).toEqual([]);
      expect(await world.outcome("parent", "s")).toEqual(value("timed out"));
    });

    test("several runs may wait for one, and all are woken", async () => {
      const world = await openWorld(open);
      await world.startLeased("first", { key: '"k"' });
      for (const parent of ["p1", "p2"]) {
        await world.startLeased(parent);
        await world.advance(parent, {
          waits: [runWait("s")],
          ingest: {
            registration: null,
            events: [newEvent(`invoke ${parent}`)],
            pairs: [startPair(`child of ${parent}`, { key: '"k"' })],
          },
          next: parent === "p1" ? forever : keepGoing,
        });
      }
      const { woken } = await world.advance("first", { next: end("completed") });
      expect(woken).toEqual([
        { runId: "p1", fn, leasedBy: null },
        { runId: "p2", fn, leasedBy: "w1" },
      ]);
    });

    everyWrite(
      open,
      "invoke",
      async (world) => {
        await world.startLeased("parent");
        return () => invoke(world, { key: '"k"', leaseTo: null }, { next: keepGoing });
      },
      ({ outcomes, news, leased, ingested }) => ({ outcomes, news, leased, decisions: ingested!.decisions }),
    );
  });

  describe("repeats", () => {
    everyWrite(
      open,
      "suspend",
      async (world) => {
        await world.startLeased("r1");
        return () => world.tryAdvance("r1", { waits: [signalWait("s", "sig")], steps: [newStep("t")], next: forever });
      },
      // The first gives the lease back, so the repeat is fenced.
      null,
    );
    everyWrite(
      open,
      "resume",
      async (world) => {
        await world.startWaiting("r1", [eventWait("s")]);
        await arrive(world, "e1");
        return () => resume(world, "e1");
      },
      // The first ends the delivery, so the repeat is fenced.
      null,
    );
    everyWrite(
      open,
      "signal",
      async (world) => {
        await world.startWaiting("r1", [signalWait("s", "sig")]);
        return () => world.store.signal(env, "sig", value(1));
      },
      // After the first nobody waits.
      null,
    );
    everyWrite(
      open,
      "cancel",
      async (world) => {
        await world.startWaiting("r1", [signalWait("s", "sig")], { key: '"k"' });
        return () => world.store.cancel({ env, runId: "r1", result: "null", releaseKey: true, ingest: null });
      },
      // The repeat finds that it has ended.
      null,
    );
  });
}
