// A limit for a while: docs/flow.md#a-limit-for-a-while, case by case.
import { describe, expect, test } from "vitest";
import { limitsOf } from "../../engine/limit-function.ts";
import type { Idem } from "../../sdk/client.ts";
import type { FunctionOptions } from "../../sdk/function-types.ts";
import { oneStore, stores, testIdem } from "../../testing/flow-stores.suite.ts";
import { HeldWork } from "../../testing/held-work.suite.ts";
import { engineOf } from "../../testing/one-store.suite.ts";

type Concurrency = NonNullable<FunctionOptions["concurrency"]>;

function worked(idem: Idem, work: HeldWork, concurrency: Concurrency) {
  idem.createFunction({ id: "fn", concurrency }, { event: "a/b" }, async ({ event, step }) =>
    step.run("work", () => work.do(event.data.n)),
  );
}

const events = (...names: string[]) => names.map((n) => ({ name: "a/b", data: { n, of: n[0] } }));

async function begin(store: (typeof stores)[number], concurrency: Concurrency) {
  const work = new HeldWork();
  const world = testIdem({ store });
  worked(world.idem, work, concurrency);
  await world.idem.start();
  const limit = async (count: number | null, length?: string, which?: number) => {
    const given = { ...(length === undefined ? {} : { for: length }), ...(which === undefined ? {} : { which }) };
    const { limits } = await world.idem.functions.limit("fn", { concurrency: count, reason: "month end", ...given });
    await world.clock.tick(1);
    return limits.map((each) => (each.until === null ? each.limit : `${each.limit} for ${each.own}`));
  };
  return { ...world, work, limit };
}

describe.each(stores)("a limit for a while on %s", (store) => {
  test("raised, those in line come in at once; at its end nobody is stopped, and the own limit counts again by itself", async () => {
    const { idem, clock, work, limit } = await begin(store, 1);
    await idem.send(events("1", "2", "3", "4", "5"));
    await clock.tick(1);
    expect(work.inside).toEqual(["1"]);
    expect(await limit(3, "5m")).toEqual(["3 for 1"]);
    expect(work.inside).toEqual(["1", "2", "3"]);
    await clock.tick("5m");
    expect(work.inside).toEqual(["1", "2", "3"]);
    work.letGo("1", "2");
    await clock.tick("1s");
    expect(work.inside).toEqual(["3"]);
    work.letGo("3");
    await clock.tick("1s");
    expect(work.inside).toEqual(["4"]);
  });

  test("lowered, nobody is stopped and nobody begins until there is room; at its end those in line come in by themselves", async () => {
    const { idem, clock, work, limit } = await begin(store, 2);
    await idem.send(events("1", "2", "3", "4"));
    await clock.tick(1);
    await limit(1, "10m");
    work.letGo("1");
    await clock.tick("1s");
    expect(work.inside).toEqual(["2"]);
    await clock.tick("9m");
    expect(work.inside).toEqual(["2"]);
    await clock.tick("1m");
    expect(work.inside).toEqual(["2", "3"]);
    expect(work.most).toBe(2);
  });

  test("said twice, the newer word counts whole; ended by hand, the own limit counts at once; the audit has each, and why", async () => {
    const { idem, clock, work, limit } = await begin(store, 1);
    await idem.send(events("1", "2", "3", "4", "5"));
    await clock.tick(1);
    await limit(4, "1h");
    expect(await limit(2, "5m")).toEqual(["2 for 1"]);
    work.letGo("1", "2", "3");
    await clock.tick(1);
    expect(work.inside).toEqual(["4", "5"]);
    await clock.tick("6m");
    await idem.send(events("6"));
    await clock.tick(1);
    expect(work.inside).toEqual(["4", "5"]);
    await limit(9, "1h");
    expect(work.inside).toEqual(["4", "5", "6"]);
    expect(await limit(null)).toEqual([1]);
    await idem.send(events("7"));
    work.letGo("4", "5");
    await clock.tick(1);
    expect(work.inside).toEqual(["6"]);
    const { store: kept, env } = await engineOf(idem);
    const { rows } = await kept.reads.auditPage(env, { limit: 10 });
    expect(rows.map(({ action, subject, reason }) => `${action} ${subject} ${reason}`)).toEqual([
      "change-limit test-fn back to 1: month end",
      "change-limit test-fn 1 to 9 for 60 min: month end",
      "change-limit test-fn 1 to 2 for 5 min: month end",
      "change-limit test-fn 1 to 4 for 60 min: month end",
    ]);
  });

  test("holds on every process of the store, and explain says what stands in for the own limit", async () => {
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const nodes = [process().idem, process().idem];
    for (const idem of nodes) {
      worked(idem, work, 1);
      await idem.start();
    }
    const [one, other] = nodes as [Idem, Idem];
    const sent = await one.send(events("1", "2", "3", "4", "5"));
    await clock.tick("1s");
    await other.functions.limit("fn", { concurrency: 4, for: "5m" });
    await clock.tick("2s");
    expect(work.inside).toHaveLength(4);
    const waiting = [];
    for (const { runId } of sent.decisions)
      if ((await one.runs.get(runId!))!.state === "queued") waiting.push(await one.explain(runId!));
    expect(waiting.map(({ summary }) => /4 of 4 are in use, raised from 1 until /.test(summary.join("\n")))).toEqual([
      true,
    ]);
    await clock.tick("5m");
    work.letGo(work.inside[0]!);
    await clock.tick("2s");
    expect(work.inside).toHaveLength(3);
  });

  test("stands in for the limit it was said of: another number in the code waits for its end, another key ends it", async () => {
    const work = new HeldWork();
    const { clock, process } = oneStore(store);
    const old = process().idem;
    worked(old, work, [{ limit: 9 }, { limit: 1, key: "event.data.of" }]);
    await old.start();
    const refused = { code: "OPTION_INVALID" };
    await expect(old.functions.limit("fn", { concurrency: 2, for: "1h" })).rejects.toMatchObject(refused);
    await old.functions.limit("fn", { concurrency: 2, for: "5m", which: 2 });
    await old.send(events("a1", "a2", "a3", "a4", "a5"));
    await clock.tick("1s");
    expect(work.inside).toEqual(["a1", "a2"]);
    const fresh = process().idem;
    worked(fresh, work, [{ limit: 9 }, { limit: 3, key: "event.data.of" }]);
    await fresh.start();
    await clock.tick("2s");
    expect(work.inside).toEqual(["a1", "a2"]);
    await clock.tick("5m");
    expect(work.inside).toEqual(["a1", "a2", "a3"]);
    await fresh.functions.limit("fn", { concurrency: 9, for: "5m", which: 2 });
    await clock.tick("1s");
    expect(work.inside).toHaveLength(5);
    const other = process().idem;
    worked(other, work, 1);
    await other.start();
    const { store: kept, env } = await engineOf(other);
    const [registered] = (await kept.reads.functions(env)).functions;
    expect(limitsOf(registered!, await kept.reads.now())).toEqual([
      { limit: 1, key: null, scope: "fn", own: 1, until: null },
    ]);
  });

  test("what makes no sense is refused, and nothing changes", async () => {
    const { idem } = await begin(store, 1);
    idem.createFunction({ id: "free" }, { event: "c/d" }, () => null);
    const limit = (options: object, fn = "fn") => idem.functions.limit(fn, options as never);
    for (const options of [
      { concurrency: 0, for: "1h" },
      { concurrency: 1.5, for: "1h" },
      { concurrency: 2 },
      { concurrency: 2, for: "10s" },
      { concurrency: 2, for: "8d" },
      { concurrency: 2, for: "5m", which: 2 },
    ])
      await expect(limit(options)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(limit({ concurrency: 2, for: "soon" })).rejects.toMatchObject({ code: "DURATION_INVALID" });
    await expect(limit({ concurrency: 2, for: "1h" }, "nobody")).rejects.toMatchObject({ code: "FUNCTION_UNKNOWN" });
    const { store: kept, env } = await engineOf(idem);
    expect((await kept.reads.auditPage(env, { limit: 10 })).rows).toEqual([]);
  });
});
