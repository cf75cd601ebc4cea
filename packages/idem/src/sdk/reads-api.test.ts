import { describe, expect, test } from "vitest";
import { held, oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("lists on %s", (store) => {
  test("runs are listed newest first, by page, function, state and event", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "good" }, { event: "a/b" }, async () => null);
    idem.createFunction({ id: "bad", retries: 0 }, { event: "a/b" }, async () => {
      throw new Error("no");
    });
    await idem.start();
    const eventIds: string[] = [];
    for (let i = 0; i < 5; i++) eventIds.push((await idem.send({ name: "a/b" })).ids[0]!);
    await idem.idle();
    const all = await idem.runs.list();
    expect(all).toHaveLength(10);
    expect(all.map(({ id }) => id)).toEqual(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    const pages: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await idem.runs.list({ limit: 3, ...(before === undefined ? {} : { before }) });
      if (page.length === 0) break;
      pages.push(...page.map(({ id }) => id));
      before = page.at(-1)!.id;
    }
    expect(pages).toEqual(all.map(({ id }) => id));
    const failed = await idem.runs.list({ state: "failed" });
    expect(failed.map((run) => run.function)).toEqual(Array(5).fill("bad"));
    expect(await idem.runs.list({ function: "good", state: "completed" })).toHaveLength(5);
    expect(await idem.runs.list({ function: "good", state: "failed" })).toEqual([]);
    expect(await idem.runs.list({ eventId: eventIds[2]! })).toHaveLength(2);
    expect(await idem.runs.list({ function: "nobody" })).toEqual([]);
  });

  test("events are listed newest first, by page and name, duplicates included", async () => {
    const { idem } = testIdem({ store });
    await idem.send([{ name: "a/one", id: "x" }, { name: "a/two" }, { name: "a/one", id: "x" }]);
    const all = await idem.events.list();
    expect(all.map(({ name }) => name)).toEqual(["a/one", "a/two", "a/one"]);
    expect(all[0]!.duplicateOf).toBe(all[2]!.internalId);
    expect(await idem.events.list({ name: "a/two" })).toHaveLength(1);
    const [first] = await idem.events.list({ limit: 1 });
    const rest = await idem.events.list({ before: first!.internalId });
    expect(rest.map(({ internalId }) => internalId)).toEqual(all.slice(1).map(({ internalId }) => internalId));
  });

  test("an event is found by either id, with its decisions", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => null);
    await idem.start();
    const { ids, decisions } = await idem.send({ id: "mine", name: "a/b", data: { n: 1 } });
    for (const id of ["mine", ids[0]!]) {
      expect(await idem.events.get(id)).toMatchObject({
        id: "mine",
        internalId: ids[0],
        data: { n: 1 },
        decisions: [{ function: "fn", kind: "started", runId: decisions[0]!.runId }],
      });
    }
    expect(await idem.events.get("nobody")).toBeNull();
    expect(await idem.runs.get("nobody")).toBeNull();
  });
});

test("a limit out of bounds is refused", async () => {
  const { idem } = testIdem();
  for (const limit of [0, -1, 1.5, 1_001, Number.NaN, "5"]) {
    await expect(idem.runs.list({ limit: limit as number })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(idem.events.list({ limit: limit as number })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  }
});

test("wait resolves for every end, and for ends it did not see happen", async () => {
  const completed = await oneRun(async () => "value");
  const waiting = completed.idem.runs.wait(completed.runId);
  expect(await waiting).toEqual({ state: "completed", output: "value", error: null });
  expect(await completed.idem.runs.wait(completed.runId)).toEqual({ state: "completed", output: "value", error: null });
  await expect(completed.idem.runs.wait("nobody")).rejects.toMatchObject({ code: "RUN_UNKNOWN" });
});

test("wait hears of an end in another process by looking", async () => {
  const world = testIdem();
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => step.sleep("nap", "5s"));
  await world.idem.start();
  const other = world.client();
  const { runId } = (await other.send({ name: "a/b" })).decisions[0]!;
  let heard = false;
  const waiting = other.runs.wait(runId!).then((end) => {
    heard = true;
    return end;
  });
  await world.clock.tick("4s");
  expect(heard).toBe(false);
  await world.clock.tick("5s");
  expect(await waiting).toMatchObject({ state: "completed" });
});

test("wait can be given up by a signal, and leaves nothing behind", async () => {
  const end = held();
  const run = await oneRun(async ({ step }) => step.run("long", () => end.promise));
  const abort = new AbortController();
  const waiting = run.idem.runs.wait(run.runId, { signal: abort.signal });
  abort.abort(new Error("enough"));
  await expect(waiting).rejects.toThrow("enough");
  end.release();
  expect(await run.idem.runs.wait(run.runId)).toMatchObject({ state: "completed" });
});
