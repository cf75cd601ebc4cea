import { describe, expect, test } from "vitest";
import { stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { TriggerIndex } from "./match-triggers.ts";

const target = (id: string, ...triggers: { event: string; if?: string }[]) => ({ config: { id, triggers } as any });

describe("names", () => {
  const index = new TriggerIndex([
    target("exact", { event: "shop/order.paid" }),
    target("part", { event: "shop/order.*" }),
    target("app", { event: "shop/*" }),
    target("other", { event: "bank/*" }),
    target("many", { event: "shop/order.paid" }, { event: "shop/*" }, { event: "shop/order.*" }),
  ]);
  const reached = (name: string) => index.match(name).map((match) => match.target.config.id);

  test("a name reaches its exact trigger and every wildcard above it, each function once", () => {
    expect(reached("shop/order.paid").sort()).toEqual(["app", "exact", "many", "part"]);
    expect(reached("shop/order.sent").sort()).toEqual(["app", "many", "part"]);
    expect(reached("shop/cart").sort()).toEqual(["app", "many"]);
    expect(reached("shop/orderly")).not.toContain("part");
    expect(reached("shopping/order.paid")).toEqual([]);
    expect(reached("shop")).toEqual([]);
  });

  test("all its matching triggers are told, for any of them may let the event in", () => {
    const many = index.match("shop/order.paid").find((match) => match.target.config.id === "many");
    expect(many!.triggers).toHaveLength(3);
  });

  test("asking twice gives the same", () => {
    expect(reached("shop/order.paid")).toEqual(reached("shop/order.paid"));
  });
});

describe.each(stores)("triggers on %s", (store) => {
  test("one event starts each function it reaches once, also through several triggers", async () => {
    const { idem } = testIdem({ store });
    const started: string[] = [];
    idem.createFunction({ id: "many", triggers: [{ event: "shop/paid" }, { event: "shop/*" }] }, async ({ event }) =>
      started.push(`many ${event.name}`),
    );
    idem.createFunction({ id: "one" }, { event: "shop/paid" }, async () => started.push("one"));
    await idem.start();
    const { decisions } = await idem.send({ name: "shop/paid" });
    expect(decisions.map((decision) => [decision.function, decision.kind])).toEqual([
      ["many", "started"],
      ["one", "started"],
    ]);
    await idem.idle();
    expect(started.sort()).toEqual(["many shop/paid", "one"]);
  });

  test("a filter lets in what it is true for; false and failing are shown with their reason", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "big" }, { event: "a/b", if: "event.data.total > 100" }, async () => null);
    await idem.start();
    const decide = async (data: Record<string, unknown>) => (await idem.send({ name: "a/b", data })).decisions[0]!;
    expect(await decide({ total: 101 })).toMatchObject({ kind: "started" });
    const no = await decide({ total: 100 });
    expect(no).toMatchObject({ kind: "filtered", runId: null });
    expect(no.reason).toContain("event.data.total > 100");
    for (const data of [{}, { total: "many" }, { total: null }]) {
      const decision = await decide(data);
      expect(decision.kind).toBe("filtered");
      expect(decision.reason).toContain("event.data.total > 100");
    }
  });

  test("of several filtered triggers one that is true is enough", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction(
      {
        id: "any",
        triggers: [
          { event: "a/b", if: "event.data.n == 1" },
          { event: "a/*", if: "event.data.n == 2" },
        ],
      },
      async () => null,
    );
    await idem.start();
    const kinds = await Promise.all(
      [1, 2, 3].map(async (n) => (await idem.send({ name: "a/b", data: { n } })).decisions[0]!.kind),
    );
    expect(kinds).toEqual(["started", "started", "filtered"]);
  });

  test("a duplicate under another name starts nothing, and is answered for the functions of the first", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "first" }, { event: "a/inserted" }, async () => null);
    idem.createFunction({ id: "second" }, { event: "a/updated" }, async () => null);
    await idem.start();
    const one = await idem.send({ id: "x", name: "a/inserted" });
    const two = await idem.send({ id: "x", name: "a/updated" });
    expect(two.decisions).toMatchObject([
      { function: "first", kind: "duplicate-event", runId: one.decisions[0]!.runId },
      { function: "second", kind: "duplicate-event", runId: null },
    ]);
  });
});

test("an event dated into the future starts its run at that time; its windows are counted from now", async () => {
  const { idem, clock } = testIdem();
  idem.createFunction({ id: "fn", idempotency: "event.data.k" }, { event: "a/b" }, async () => clock.now());
  await idem.start();
  const ts = clock.now() + 3_600_000;
  const { decisions } = await idem.send({ name: "a/b", ts, data: { k: 1 } });
  expect(decisions[0]).toMatchObject({ kind: "started", windowEndsAt: clock.now() + 86_400_000 });
  await clock.advance(3_599_999);
  expect(await idem.runs.get(decisions[0]!.runId!)).toMatchObject({ state: "waiting", dueAt: ts });
  await clock.advance(1);
  expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ output: ts });
});

test("the ends of runs are events that functions and waits can hear", async () => {
  const { idem } = testIdem();
  const heard: unknown[] = [];
  idem.createFunction({ id: "good" }, { event: "a/good" }, async () => "value");
  idem.createFunction({ id: "bad", retries: 0 }, { event: "a/bad" }, async () => {
    throw new Error("no");
  });
  idem.createFunction({ id: "ear" }, { event: "inngest/function.finished" }, async ({ event }) => {
    heard.push([event.data.function_id, event.data.result ?? event.data.error.message]);
  });
  await idem.start();
  await idem.send([{ name: "a/good" }, { name: "a/bad" }]);
  await idem.idle();
  // And not its own end, for ever.
  expect(heard.sort()).toEqual([
    ["test-bad", "no"],
    ["test-good", "value"],
  ]);
});
