import { describe, expect, test } from "vitest";
import { NonRetriableError } from "../model/user-errors.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("explain on %s", (store) => {
  async function story() {
    const world = testIdem({ store });
    const { idem, clock } = world;
    idem.createFunction(
      { id: "invoice", idempotency: "event.data.order" },
      { event: "order/paid" },
      async () => "done",
    );
    idem.createFunction({ id: "big" }, { event: "order/paid", if: "event.data.total > 100" }, async () => null);
    await idem.start();
    const send = (id: string, total: number) => idem.send({ id, name: "order/paid", data: { order: 7, total } });
    const first = await send("e1", 10);
    const sameId = await send("e1", 11);
    const sameKey = await send("e2", 12);
    await idem.idle();
    const run = first.decisions.find((decision) => decision.function === "invoice")!.runId!;
    return { idem, clock, first: first.ids[0]!, sameId: sameId.ids[0]!, sameKey: sameKey.ids[0]!, run };
  }

  test("a second event of a key whose run failed is told so by send and by explain, with a rerun and a release as ways on", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "pay", retries: 0, idempotency: "event.data.order" }, { event: "order/paid" }, () => {
      throw new Error("no card");
    });
    await idem.start();
    const send = () => idem.send({ name: "order/paid", data: { order: 7 } });
    const runId = (await send()).decisions[0]!.runId!;
    await idem.runs.wait(runId);
    const { ids, decisions } = await send();
    const waysOn = `key 7 is taken by run ${runId}, which failed: rerun it, or release the key so that the next event starts a new run`;
    expect(decisions).toMatchObject([{ kind: "duplicate-key", runId, reason: waysOn }]);
    const explained = await idem.explain(ids[0]!);
    expect(explained.summary.join("\n")).toContain("Look at the error; rerun it once its cause is gone.");
    expect(explained.summary.join("\n")).toContain("Or release its key: the next event then starts a new run.");
    await idem.stop();
  });

  test("an event is found by its stored id and by its sender's, and tells what was decided for each function", async () => {
    const { idem, first, sameId, run } = await story();
    for (const id of [first, "e1"]) {
      const explained = await idem.explain(id);
      if (explained.kind !== "event") throw new Error(explained.kind);
      expect(explained.event.internalId).toBe(first);
      expect(explained.event.data).toEqual({ order: 7, total: 10 });
      expect(explained.duplicates.map((event) => event.internalId)).toEqual([sameId]);
      expect(explained.decisions).toMatchObject([
        { kind: "filtered", function: "big", runId: null },
        { kind: "started", function: "invoice", runId: run },
      ]);
      const text = explained.summary.join("\n");
      expect(text).toContain("It started run 1 of invoice. It took key 7.");
      expect(text).toContain(`Run 1 is ${run}, completed.`);
      expect(text).toContain("Order 7 ran once because its key was taken: two duplicates were stopped.");
      expect(text).toContain("event.data.total > 100");
    }
  });

  test("a duplicate names the first event, the run that answers for it, and where its payload differed", async () => {
    const { idem, first, sameId, sameKey, run } = await story();
    const byId = await idem.explain(sameId);
    if (byId.kind !== "event") throw new Error(byId.kind);
    expect(byId.first!.internalId).toBe(first);
    expect(byId.decisions.find((decision) => decision.function === "invoice")).toMatchObject({
      kind: "duplicate-event",
      runId: run,
      differs: ["data.total"],
    });
    const byKey = await idem.explain(sameKey);
    if (byKey.kind !== "event") throw new Error(byKey.kind);
    expect(byKey.decisions.find((decision) => decision.function === "invoice")).toMatchObject({
      kind: "duplicate-key",
      runId: run,
      key: "7",
      differs: ["data.total"],
    });
  });

  test("a run tells what it spared", async () => {
    const { idem, sameId, sameKey, run } = await story();
    const explained = await idem.explain(run);
    if (explained.kind !== "run") throw new Error(explained.kind);
    expect(explained.run).toMatchObject({ id: run, state: "completed", key: "7" });
    expect(explained.spared.map(({ eventId, kind }) => [eventId, kind]).sort()).toEqual(
      [
        [sameId, "duplicate-event"],
        [sameKey, "duplicate-key"],
      ].sort(),
    );
  });

  test("a key tells its holder, how often it was asked for, and until when it is taken", async () => {
    const { idem, clock, run } = await story();
    const taken = await idem.explain({ function: "invoice", key: 7 });
    expect(taken).toMatchObject({ kind: "key", key: "7", askedCount: 2, isOpen: true, holder: { id: run } });
    expect(taken.windowEndsAt).toBe(clock.now() + 86_400_000);
    expect(await idem.explain({ function: "invoice", key: "8" })).toMatchObject({ holder: null, isOpen: false });
    await clock.advance("25h");
    expect(await idem.explain({ function: "invoice", key: 7 })).toMatchObject({ isOpen: false });
    const [decision] = (await idem.send({ name: "order/paid", data: { order: 7 } })).decisions.filter(
      ({ kind }) => kind === "started",
    );
    const next = await idem.explain({ function: "invoice", key: 7 });
    expect(next).toMatchObject({ holder: { id: decision!.runId }, askedCount: 1, isOpen: true });
  });
});

test("what is not there is an error that says so", async () => {
  const { idem } = testIdem();
  await expect(idem.explain("nobody")).rejects.toMatchObject({ code: "SUBJECT_UNKNOWN" });
});

test("an event that reached no function says so", async () => {
  const { idem } = testIdem();
  const { ids, unmatched } = await idem.send({ name: "a/nobody" });
  expect(unmatched).toBe(true);
  expect((await idem.explain(ids[0]!)).summary.join("\n")).toContain("No function has a trigger");
});

test("a timeline shows every step with its attempts, what failed and what it still waits for", async () => {
  const run = await oneRun(
    async ({ step }) => {
      await step.run("fine", () => ({ n: 1 }));
      await step
        .run("broken", () => {
          throw new NonRetriableError("no use");
        })
        .catch(() => null);
      await Promise.all([
        step.run("flaky", () => {
          throw new Error("again");
        }),
        step.waitForEvent("answer", { event: "a/b", timeout: "1d" }),
      ]);
    },
    { fn: { backoff: () => 3_600_000 } },
  );
  await run.idem.idle();
  const startedAt = run.clock.now();
  const { timeline, state } = (await run.idem.runs.get(run.runId))!;
  expect(state).toBe("waiting");
  expect(timeline).toMatchObject([
    { name: "fine", kind: "run", state: "completed", output: { n: 1 }, error: null, attempts: [{ attempt: 1 }] },
    { name: "broken", state: "failed", error: { name: "NonRetriableError", message: "no use" } },
    {
      name: "flaky",
      state: "retrying",
      error: { message: "again" },
      waitsUntil: startedAt + 3_600_000,
      attempts: [{ attempt: 1, retryAt: startedAt + 3_600_000 }],
    },
    { name: "answer", kind: "wait-for-event", state: "waiting", waitsUntil: startedAt + 86_400_000 },
  ]);
});

test("a timeline shows failures of the code between steps as the function's own", async () => {
  const run = await oneRun(async () => {
    throw new Error("between");
  });
  await run.idem.idle();
  expect((await run.idem.runs.get(run.runId))!.timeline).toMatchObject([
    { name: "", kind: "function", state: "retrying", error: { message: "between" } },
  ]);
});
