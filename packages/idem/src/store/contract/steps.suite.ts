// A step has one outcome for ever, recorded only by the holder of the run's fence.
import { describe, expect, test } from "vitest";
import { stepKinds } from "../../model/step.ts";
import {
  collect,
  end,
  env,
  everyWrite,
  failure,
  fn,
  forever,
  keepGoing,
  newAttempt,
  newEvent,
  newStep,
  type OpenStore,
  openWorld,
  runJob,
  signalWait,
  startPair,
  value,
} from "./world.ts";

export function stepsSuite(open: OpenStore): void {
  describe("steps", () => {
    test("a recorded step is in the memo, with who recorded it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const step = newStep("s1", { repeat: 2, kind: "fetch", attempt: 3, startedAt: 10, endedAt: 20 });
      const answer = await world.advance("r1", { steps: [step] });
      expect(answer).toMatchObject({ outcomes: [step.outcome], leased: true, news: [], woken: [], ingested: null });
      const { steps } = await world.memo("r1");
      expect(steps).toEqual([{ ...step, stamp: expect.any(Number), worker: "w1" }]);
    });

    test("a step that another brings by the holder's fence is news to the holder, and nobody brings one without it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("own")] });
      const { worker, fence, stepCount, deferCount, bytes } = (await world.store.reads.held(env, "r1"))!;
      expect([worker, stepCount, deferCount, bytes > 0]).toEqual(["w1", 1, 0, true]);
      const bring = (id: string, by: number) =>
        world.store.advance({
          ...{ env, worker, runId: "r1", jobId: "r1", fence: by, asNews: true, seen: 0, next: keepGoing },
          ...{ steps: [newStep(id)], attempts: [], waits: [], ingest: null },
        });
      expect(await bring("brought", fence)).toMatchObject({ kind: "advanced", outcomes: [newStep("brought").outcome] });
      expect(await bring("brought", fence)).toMatchObject({ kind: "advanced" });
      expect(await bring("late", fence + 1)).toEqual({ kind: "fenced" });
      const { news } = await world.advance("r1", { next: collect });
      expect(news.map(({ stepId }) => stepId)).toEqual(["brought"]);
      await world.advance("r1", { next: end("completed") });
      expect(await world.store.reads.held(env, "r1")).toBeNull();
    });

    test("a step of every kind is kept and read back as that", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: stepKinds.map((kind) => newStep(kind, { kind })) });
      const { steps } = await world.memo("r1");
      expect(steps.map(({ stepId, kind }) => [stepId, kind])).toEqual(stepKinds.map((kind) => [kind, kind]));
    });

    test("the first outcome recorded wins, whatever comes later", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("s1", { outcome: value(1) })] });
      const { outcomes } = await world.advance("r1", {
        steps: [newStep("s1", { outcome: failure("late") }), newStep("s2", { outcome: value(2) })],
      });
      expect(outcomes).toEqual([value(1), value(2)]);
      expect(await world.outcome("r1", "s1")).toEqual(value(1));
    });

    test("stamps grow in the order of recording, also inside one millisecond and over a clock set back", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { steps: [newStep("c"), newStep("b")] });
      world.clock.stepWall(-60_000);
      await world.advance("r1", { steps: [newStep("a")] });
      const { steps } = await world.memo("r1");
      expect(steps.map(({ stepId }) => stepId)).toEqual(["c", "b", "a"]);
      expect(steps[0]!.stamp).toBeLessThan(steps[1]!.stamp);
      expect(steps[1]!.stamp).toBeLessThan(steps[2]!.stamp);
    });

    test("equal step ids of two runs are two steps", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.startLeased("r2");
      await world.advance("r1", { steps: [newStep("s", { outcome: value(1) })] });
      const { outcomes } = await world.advance("r2", { steps: [newStep("s", { outcome: value(2) })] });
      expect(outcomes).toEqual([value(2)]);
    });

    test("whoever does not hold the fence records nothing", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const rows = await world.rows();
      const patch = { steps: [newStep("s")], attempts: [newAttempt("s", 1)], next: end("completed") };
      expect(await world.tryAdvance("r1", { ...patch, fence: 0 })).toEqual({ kind: "fenced" });
      expect(await world.tryAdvance("r1", { ...patch, fence: 2 })).toEqual({ kind: "fenced" });
      expect(await world.tryAdvance("r1", { ...patch, worker: "w2" })).toEqual({ kind: "fenced" });
      expect(await world.tryAdvance("no such run", patch)).toEqual({ kind: "fenced" });
      expect(await world.rows()).toEqual(rows);
    });

    test("a run that nobody leased cannot be moved", async () => {
      const world = await openWorld(open);
      await world.start("r1");
      expect(await world.tryAdvance("r1", { fence: 0, steps: [newStep("s")] })).toEqual({ kind: "fenced" });
    });

    test("failed attempts are kept in order, each once", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { attempts: [newAttempt("s", 1), newAttempt("", 1)] });
      await world.advance("r1", { attempts: [newAttempt("s", 1, { error: '"other"' }), newAttempt("s", 2)] });
      const { attempts } = await world.memo("r1");
      expect(attempts).toEqual(
        [newAttempt("s", 1), newAttempt("", 1), newAttempt("s", 2)].map((attempt) => ({
          ...attempt,
          stamp: expect.any(Number),
          worker: "w1",
        })),
      );
      expect(attempts[1]!.stamp).toBeLessThan(attempts[2]!.stamp);
    });

    test("a failed attempt waits for its retry: due then, not before, with the attempt in the memo", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const retryAt = world.clock.wallMs() + 500;
      const next = { kind: "suspend", dueAt: retryAt } as const;
      expect(await world.advance("r1", { attempts: [newAttempt("s", 1, { retryAt })], next })).toMatchObject({
        leased: false,
      });
      expect(await world.run("r1")).toMatchObject({ state: "waiting", dueAt: retryAt });
      world.clock.advance(499);
      expect((await world.lease()).jobs).toEqual([]);
      world.clock.advance(1);
      const { memo, fence } = runJob((await world.lease()).jobs[0]);
      expect(fence).toBe(2);
      expect(memo.attempts).toMatchObject([{ stepId: "s", attempt: 1, retryAt }]);
    });

    test("all of a patch or nothing: a stale registration of what it sends stores none of it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.store.register({ env, app: "shop", functions: [{ fn, id: "bill", config: "{}", crons: [] }] });
      const rows = await world.rows();
      const answer = await world.tryAdvance("r1", {
        steps: [newStep("s")],
        attempts: [newAttempt("t", 1)],
        waits: [signalWait("u", "sig")],
        ingest: { registration: 0, events: [newEvent("e2")], pairs: [startPair("r2")] },
        next: end("completed"),
      });
      expect(answer).toEqual({ kind: "stale-registration", registration: 1 });
      expect(await world.rows()).toEqual(rows);
    });

    test("all of a patch or nothing: one that cannot be stored stores none of it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const rows = await world.rows();
      const taken = { registration: null, events: [newEvent("e2")], pairs: [startPair("r1")] };
      const steps = [newStep("s"), newStep("t")];
      const patch = { steps, waits: [signalWait("u", "sig")], ingest: taken, next: end("completed") };
      await expect(world.tryAdvance("r1", patch)).rejects.toThrow();
      expect(await world.rows()).toEqual(rows);
      expect(await world.advance("r1", { steps: [newStep("s")] })).toMatchObject({ leased: true });
    });

    test("what a step sends is stored with it, and its runs can be born leased", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const { ingested } = await world.advance("r1", {
        steps: [newStep("s", { kind: "send-event" })],
        ingest: {
          registration: null,
          events: [newEvent("e2", { callerId: "from step s", sourceRunId: "r1" })],
          pairs: [startPair("r2", { leaseTo: "w1" })],
        },
      });
      expect(ingested).toMatchObject({ kind: "ingested", decisions: [{ kind: "started", runId: "r2" }] });
      expect(runJob(ingested!.leased[0])).toMatchObject({ jobId: "r2", fence: 1 });
      expect(await world.store.reads.event(env, "e2")).toMatchObject({ sourceRunId: "r1" });
    });

    everyWrite(
      open,
      "advance",
      async (world) => {
        await world.startLeased("r1");
        return () =>
          world.advance("r1", {
            steps: [newStep("s1"), newStep("s2", { outcome: failure("no") })],
            attempts: [newAttempt("s3", 1)],
            waits: [signalWait("s4", "sig")],
            ingest: {
              registration: null,
              events: [newEvent("e2", { callerId: "id" })],
              pairs: [startPair("r2", { key: "1" })],
            },
          });
      },
      ({ ingested, ...answer }) => ({ ...answer, decisions: ingested!.decisions, events: ingested!.events }),
    );
  });

  describe("news", () => {
    test("what somebody else recorded since is news to a caller who collects, once", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [signalWait("s", "sig")] });
      await world.store.signal(env, "sig", value("arrived"));
      const first = await world.advance("r1", { next: collect });
      expect(first).toMatchObject({ leased: true, news: [{ stepId: "s", outcome: value("arrived"), worker: null }] });
      expect(first.seen).toBe(first.news[0]!.stamp);
      expect((await world.advance("r1", { seen: first.seen, next: collect })).news).toEqual([]);
    });

    test("a run with news is not suspended but keeps its lease", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [signalWait("s", "sig")] });
      await world.store.signal(env, "sig", value("arrived"));
      const refused = await world.advance("r1", { next: forever });
      expect(refused).toMatchObject({ leased: true, news: [{ stepId: "s" }] });
      expect(await world.run("r1")).toMatchObject({ state: "running" });
      expect(await world.advance("r1", { seen: refused.seen, next: forever })).toMatchObject({
        leased: false,
        news: [],
      });
    });

    test("what arrived while a caller only saved is still news when it suspends", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      await world.advance("r1", { waits: [signalWait("s", "sig")] });
      await world.store.signal(env, "sig", value("arrived"));
      const saved = await world.advance("r1", { steps: [newStep("t")], next: keepGoing });
      const suspended = await world.advance("r1", { seen: saved.seen, next: forever });
      const told = [...saved.news, ...suspended.news].map(({ stepId }) => stepId);
      expect(told).toEqual(["s"]);
    });

    test("what a caller recorded itself is never news to it", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1");
      const one = await world.advance("r1", { steps: [newStep("s1")], next: keepGoing });
      const two = await world.advance("r1", { steps: [newStep("s2")], seen: one.seen, next: collect });
      expect(two.news).toEqual([]);
      const three = await world.advance("r1", { steps: [newStep("s3")], seen: two.seen, next: forever });
      expect(three).toMatchObject({ news: [], leased: false });
    });
  });
}
