// A batch carries each key once, and holds the keys of all its events.
import { describe, expect, test } from "vitest";
import type { IdempotencyOptions } from "../../sdk/function-types.ts";
import { stores, testIdem } from "../../testing/flow-stores.suite.ts";

describe.each(stores)("keys of a batch on %s", (store) => {
  async function begin(idempotency: Partial<IdempotencyOptions> = {}) {
    const carried: unknown[][] = [];
    const world = testIdem({ store });
    const { idem, clock } = world;
    idem.createFunction(
      {
        id: "fn",
        retries: 0,
        batchEvents: { maxSize: 3, timeout: "10s" },
        idempotency: { key: "event.data.key", ...idempotency },
      },
      { event: "a/b" },
      async ({ event, events, step }) => {
        const n = events.map(({ data }) => data.n);
        await step.run("work", () => carried.push(n));
        if (event.data.nap !== undefined) await step.sleep("nap", event.data.nap);
        if (event.data.fail === true) throw new Error("not today");
        return n;
      },
    );
    await idem.start();
    const send = async (...data: Record<string, unknown>[]) => {
      const sent = await idem.send(data.map((each) => ({ name: "a/b", data: each })));
      await clock.advance(0);
      return [...sent.decisions];
    };
    const decisionOf = async ({ eventId }: { eventId: string }) => (await idem.events.get(eventId))!.decisions[0]!;
    return { ...world, carried, send, decisionOf };
  }

  test("a key that comes twice is carried once, and the decision of the second says so", async () => {
    const { carried, send, decisionOf } = await begin();
    const sent = await send({ n: 1, key: "k" }, { n: 2, key: "k" }, { n: 3, key: "other" });
    expect(carried).toEqual([[1, 3]]);
    const [first, second, third] = await Promise.all(sent.map(decisionOf));
    expect(first).toMatchObject({ kind: "started", key: '"k"', reason: "in a batch of 2" });
    expect(second).toMatchObject({ kind: "duplicate-key", key: '"k"', runId: first!.runId });
    expect(second!.reason).toContain("already in this batch");
    expect(third).toMatchObject({ kind: "started", runId: first!.runId });
  });

  test("a key that an earlier batch has is not carried again; a batch of nothing else starts no run", async () => {
    const { idem, clock, carried, send, decisionOf } = await begin();
    const [first] = await send({ n: 1, key: "a" }, { n: 2, key: "b" }, { n: 3, key: "c" });
    const { runId } = await decisionOf(first!);
    const mixed = await send({ n: 4, key: "b" }, { n: 5, key: "d" }, { n: 6, key: "c" });
    expect(carried).toEqual([[1, 2, 3], [5]]);
    expect(await decisionOf(mixed[0]!)).toMatchObject({ kind: "duplicate-key", runId });
    const taken = await send({ n: 7, key: "a" }, { n: 8, key: "d" });
    await clock.advance("10s");
    expect(await decisionOf(taken[0]!)).toMatchObject({ kind: "duplicate-key", runId });
    expect(await decisionOf(taken[1]!)).toMatchObject({
      kind: "duplicate-key",
      runId: (await decisionOf(mixed[1]!)).runId,
    });
    expect(await idem.runs.list()).toHaveLength(2);
  });

  test("every key is free again when its window is over", async () => {
    const { clock, carried, send } = await begin({ window: "1h" });
    await send({ n: 1, key: "a" }, { n: 2, key: "b" }, { n: 3, key: "c" });
    await clock.advance(3_599_999);
    await send({ n: 4, key: "a" }, { n: 5, key: "b" }, { n: 6, key: "c" });
    await clock.advance(1);
    await send({ n: 7, key: "a" }, { n: 8, key: "b" }, { n: 9, key: "c" });
    expect(carried).toEqual([
      [1, 2, 3],
      [7, 8, 9],
    ]);
  });

  test("a batch that failed with afterFailure release gives back the keys of all its events", async () => {
    const { carried, send } = await begin({ afterFailure: "release" });
    await send({ n: 1, key: "a", fail: true }, { n: 2, key: "b" }, { n: 3, key: "c" });
    await send({ n: 4, key: "a" }, { n: 5, key: "b" }, { n: 6, key: "c" });
    expect(carried).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  test("so does one that was cancelled", async () => {
    const { idem, carried, send, decisionOf } = await begin({ afterFailure: "release" });
    const [first] = await send({ n: 1, key: "a", nap: "1h" }, { n: 2, key: "b" }, { n: 3, key: "c" });
    await idem.runs.cancel((await decisionOf(first!)).runId!);
    await send({ n: 4, key: "a" }, { n: 5, key: "b" }, { n: 6, key: "c" });
    expect(carried).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
  });

  test("one that failed otherwise keeps them", async () => {
    const { carried, send, decisionOf } = await begin();
    const [first] = await send({ n: 1, key: "a", fail: true }, { n: 2, key: "b" }, { n: 3, key: "c" });
    const again = await send({ n: 4, key: "a" }, { n: 5, key: "b" }, { n: 6, key: "c" });
    expect(carried).toEqual([[1, 2, 3]]);
    const { runId } = await decisionOf(first!);
    for (const each of again) expect(await decisionOf(each)).toMatchObject({ kind: "duplicate-key", runId });
  });

  test("with until-finished all of them are held past their window while the batch is open", async () => {
    const { clock, carried, send } = await begin({ window: "until-finished" });
    await send({ n: 1, key: "a", nap: "48h" }, { n: 2, key: "b" }, { n: 3, key: "c" });
    await clock.advance("47h");
    await send({ n: 4, key: "c" }, { n: 5, key: "b" }, { n: 6, key: "a" });
    expect(carried).toEqual([[1, 2, 3]]);
    await clock.advance("1h");
    await send({ n: 7, key: "c" }, { n: 8, key: "b" }, { n: 9, key: "a" });
    expect(carried).toEqual([
      [1, 2, 3],
      [7, 8, 9],
    ]);
  });

  test("a run of one event, past the batch, takes its key like any other", async () => {
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      {
        id: "fn",
        batchEvents: { maxSize: 2, timeout: "10s", if: "event.data.bulk == true" },
        idempotency: "event.data.key",
      },
      { event: "a/b" },
      async ({ events }) => events.map(({ data }) => data.n),
    );
    await idem.start();
    const one = (await idem.send({ name: "a/b", data: { n: 1, key: "a" } })).decisions[0]!;
    expect(one).toMatchObject({ kind: "started" });
    const sent = await idem.send(["a", "b"].map((key, n) => ({ name: "a/b", data: { n: n + 2, key, bulk: true } })));
    await clock.advanceToEnd();
    expect((await idem.events.get(sent.ids[0]!))!.decisions).toMatchObject([
      { kind: "duplicate-key", runId: one.runId },
    ]);
    expect((await idem.runs.list()).map(({ output }) => output).sort()).toEqual([[1], [3]]);
    const { kind, runId } = (await idem.send({ name: "a/b", data: { n: 4, key: "b" } })).decisions[0]!;
    expect(kind).toBe("duplicate-key");
    expect(await idem.runs.get(runId!)).toMatchObject({ output: [3] });
  });

  test("an event whose key is missing is carried, and its decision says that it has none", async () => {
    const { carried, send, decisionOf } = await begin();
    const sent = await send({ n: 1 }, { n: 2 }, { n: 3, key: "k" });
    expect(carried).toEqual([[1, 2, 3]]);
    expect((await decisionOf(sent[0]!)).reason).toMatch(/in a batch of 3; .*started without a key/);
  });
});
