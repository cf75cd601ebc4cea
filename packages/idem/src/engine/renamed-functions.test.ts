// A function or an app whose name changed, and that says so (`was`). One process is stopped, and one with the new code comes after it, as a deployment would.
import { describe, expect, test } from "vitest";
import type { Idem } from "../sdk/client.ts";
import type { IdemOptions } from "../sdk/client-options.ts";
import type { FunctionOptions, HandlerContext } from "../sdk/function-types.ts";
import { oneStore, stores } from "../testing/flow-stores.suite.ts";
import { engineOf } from "../testing/one-store.suite.ts";

type Names = Pick<FunctionOptions, "id" | "was">;
type Options = Partial<Omit<FunctionOptions, "id" | "was">>;
type Trigger = { readonly event: string } | { readonly cron: string; readonly missed?: "last" };

const bill: Names = { id: "bill" };
const charge: Names = { id: "charge", was: "bill" };

function world(kind: (typeof stores)[number], options: Options = {}, trigger: Trigger = { event: "order/paid" }) {
  const { clock, process, store } = oneStore(kind);
  /** Destination keys that were handed out, by step. */
  const keys: [string, string][] = [];
  const started: unknown[] = [];
  const handler = async ({ event, events, step }: HandlerContext<any>) => {
    const act = (id: string) => step.run(id, ({ key }) => void keys.push([id, key]));
    await act("first");
    started.push(events.length > 1 ? events.map(({ data }) => data) : event.data);
    await step.sleep("nap", "1h");
    await act("second");
  };
  let last: Idem | null = null;
  const deploy = async (names: Names, client: Partial<IdemOptions<any>> = {}, over: Options = {}) => {
    await last?.stop();
    const { idem } = process(client);
    last = idem;
    idem.createFunction({ ...names, ...options, ...over }, trigger, handler as never);
    await idem.start();
    return idem;
  };
  const send = async (idem: Idem, data: Record<string, unknown> = { order: 7 }) =>
    (await idem.send({ name: "order/paid", data })).decisions.map(
      ({ function: fn, kind: decided }) => `${fn} ${decided}`,
    );
  return { clock, process, store, keys, started, deploy, send };
}

describe.each(stores)("on %s", (kind) => {
  test("a renamed function that says what it was goes on with its open runs, its windows and the keys of its steps", async () => {
    const { clock, keys, deploy, send } = world(kind, { idempotency: "event.data.order" });
    const before = await deploy(bill);
    expect(await send(before)).toEqual(["bill started"]);
    await clock.advance("1m");
    const [run] = await before.runs.list();
    const after = await deploy(charge);
    expect(await send(after)).toEqual(["charge duplicate-key"]);
    await clock.advance("1h");
    expect(await after.runs.list()).toMatchObject([{ id: run!.id, function: "charge", state: "completed" }]);
    // A rerun has the keys of the run before it.
    await after.runs.rerun(run!.id);
    await clock.advance("2h");
    expect(new Set(keys.map(([step, key]) => `${step} ${key}`)).size).toBe(2);
    expect(keys.map(([step]) => step)).toEqual(["first", "second", "first", "second"]);
  });

  test("people ask for a renamed function by the id it has and the one it had, and read the one it has", async () => {
    const { clock, deploy, send, process } = world(kind);
    await send(await deploy(bill));
    const after = await deploy(charge);
    await clock.advance("2h");
    for (const name of ["charge", "bill", "test-charge", "test-bill"]) {
      expect(await after.runs.list({ function: name })).toMatchObject([{ function: "charge", state: "completed" }]);
    }
    expect(await after.functions.list()).toMatchObject([{ id: "charge", slug: "test-charge", app: "test" }]);
    const { idem: caller } = process({ id: "other" });
    const asks = ["test-bill", "test-charge"];
    caller.createFunction({ id: "ask" }, { event: "ask" }, ({ step }) =>
      Promise.all(asks.map((name) => step.invoke(name, { function: name, data: { order: 1 } }))),
    );
    await caller.start();
    await caller.send({ name: "ask", data: {} });
    await clock.advance("2h");
    expect((await caller.runs.list({ function: "test-charge" })).map((run) => run.function)).toEqual(
      Array(3).fill("test-charge"),
    );
  });

  test.each<[string, Options, string[]]>([
    ["singleton", { singleton: { mode: "skip" } }, ["charge singleton-skipped"]],
    ["rateLimit", { rateLimit: { limit: 1, period: "24h" } }, ["charge rate-limited"]],
    ["debounce", { debounce: { period: "10m" } }, ["charge debounced"]],
    ["batchEvents", { batchEvents: { maxSize: 2, timeout: "10m" } }, ["charge started"]],
  ])("what %s counted or gathered under the id before counts under the new one", async (option, options, decided) => {
    const { clock, started, deploy, send } = world(kind, options);
    await send(await deploy(bill), { n: 1 });
    await clock.advance("1m");
    const after = await deploy(charge);
    expect(await send(after, { n: 2 })).toEqual(decided);
    await clock.advance("2h");
    const is = {
      singleton: [{ n: 1 }],
      rateLimit: [{ n: 1 }],
      debounce: [{ n: 2 }],
      batchEvents: [[{ n: 1 }, { n: 2 }]],
    };
    expect(started.at(-1)).toEqual(is[option as keyof typeof is][0]);
    expect(await after.runs.list()).toHaveLength(1);
  });

  test("a pause, and what was held back by it, stay a renamed function's", async () => {
    const { clock, deploy, send } = world(kind);
    const before = await deploy(bill);
    await before.functions.pause("bill");
    await send(before);
    const after = await deploy(charge);
    expect(await send(after)).toEqual(["charge paused"]);
    await after.functions.resume("charge", { waiting: "release" });
    await clock.advance("2h");
    expect(await after.runs.list({ state: "completed" })).toHaveLength(2);
  });

  test("a schedule goes on where it was: the tick that nobody was there for is made up under the new id, once", async () => {
    const { clock, started, deploy } = world(kind, {}, { cron: "*/10 * * * *" });
    const before = await deploy(bill);
    await clock.advance("11m");
    await before.stop();
    await clock.advance("10m");
    await deploy(charge);
    await clock.advance("1m");
    expect(started.map((data) => (data as { scheduledAt: string }).scheduledAt.slice(11, 16))).toEqual([
      "00:10",
      "00:20",
    ]);
  });

  test("a run that began under the id before is told to the failure handler of the function it is now", async () => {
    const { clock, process } = oneStore(kind);
    const told: unknown[] = [];
    const version = (names: Names) => {
      const { idem } = process();
      const onFailure = ({ event }: { event: any }) => void told.push([names.id, event.data.function_id]);
      idem.createFunction({ ...names, retries: 0, onFailure }, { event: "go" }, async ({ step }) => {
        await step.sleep("nap", "1h");
        throw new Error("no");
      });
      return idem;
    };
    const before = version(bill);
    await before.start();
    await before.send({ name: "go", data: {} });
    await before.stop();
    const after = version(charge);
    await after.start();
    await after.send({ name: "go", data: {} });
    await clock.advance("3h");
    expect(told).toEqual([
      ["charge", "test-bill"],
      ["charge", "test-bill"],
    ]);
    expect((await after.runs.list({ state: "completed" })).map((run) => run.function)).toEqual(
      Array(2).fill("charge-failure"),
    );
  });

  test("while nodes of both codes run, an event starts one run, and either takes it up", async () => {
    const { clock, process } = oneStore(kind);
    const did: string[] = [];
    const version = (names: Names) => {
      const { idem } = process();
      idem.createFunction(names, { event: "go" }, async ({ step }) => {
        await step.run("first", () => void did.push(names.id));
        await step.sleep("nap", "1h");
        await step.run("second", () => void did.push(names.id));
      });
      return idem;
    };
    const old = version(bill);
    await old.start();
    await old.send({ name: "go", id: "a", data: {} });
    const fresh = version(charge);
    await fresh.start();
    await fresh.send({ name: "go", id: "b", data: {} });
    // Taken back, and forth again: neither loses what the other began.
    await old.send({ name: "go", id: "c", data: {} });
    await clock.advance("2h");
    expect(did).toHaveLength(6);
    expect(await old.runs.list({ state: "completed" })).toHaveLength(3);
    expect(await fresh.runs.list({ state: "completed" })).toHaveLength(3);
  });

  test("a function that was renamed twice is recorded under its first id, and a code that forgets it is refused", async () => {
    const { clock, deploy, send } = world(kind, { idempotency: "event.data.order" });
    await send(await deploy({ id: "a" }));
    await deploy({ id: "b", was: "a" });
    await expect(deploy({ id: "c", was: "b" })).rejects.toMatchObject({ code: "FUNCTION_WAS_CONFLICT" });
    const last = await deploy({ id: "c", was: ["a", "b"] });
    expect(await send(last)).toEqual(["c duplicate-key"]);
    await clock.advance("2h");
    expect(await last.runs.list()).toMatchObject([{ function: "c", state: "completed" }]);
  });

  test("`was` that comes later than the rename has to list the new id too, and then goes on with the runs of both", async () => {
    const { clock, deploy, send, keys } = world(kind);
    await send(await deploy(bill));
    await send(await deploy({ id: "charge" }));
    await clock.advance("1m");
    await expect(deploy(charge)).rejects.toThrow(/lists it too, last/);
    const after = await deploy({ id: "charge", was: ["bill", "charge"] });
    await clock.advance("2h");
    expect(await after.runs.list()).toMatchObject([
      { function: "charge", state: "completed" },
      { function: "charge", state: "completed" },
    ]);
    expect(keys.map(([step]) => step)).toEqual(["first", "first", "second", "second"]);
    expect(new Set(keys.map(([, key]) => key)).size).toBe(4);
    expect(await send(after)).toEqual(["charge started"]);
  });

  test("a renamed app that says what it was goes on with everything of its functions", async () => {
    const { clock, deploy, send } = world(kind, { idempotency: "event.data.order" });
    const before = await deploy(bill, { id: "shop" });
    await send(before);
    await before.functions.pause("bill");
    const after = await deploy(bill, { id: "billing", was: "shop" });
    expect(await after.functions.list()).toMatchObject([{ id: "bill", slug: "billing-bill", app: "billing" }]);
    await after.functions.resume("billing-bill");
    expect(await send(after)).toEqual(["bill duplicate-key"]);
    await clock.advance("2h");
    expect(await after.runs.list({ function: "shop-bill" })).toMatchObject([{ function: "bill", state: "completed" }]);
    // Both at once, and a third name of the app.
    const last = await deploy(charge, { id: "money", was: ["shop", "billing"] });
    expect(await send(last)).toEqual(["charge duplicate-key"]);
    const { registry } = await engineOf(last);
    expect(registry.all).toMatchObject([{ fn: "shop-bill", app: "shop" }]);
    expect(registry.fullName("shop-bill")).toBe("money-charge");
  });

  test("`was` of an app that comes later than the rename has to list the new name too, and ends the functions that stand there twice", async () => {
    const { clock, deploy, send } = world(kind);
    await send(await deploy(bill, { id: "shop" }));
    const between = await deploy(bill, { id: "billing" });
    // Without `was` it is not one app: each has the function.
    expect(await send(between)).toHaveLength(2);
    await expect(deploy(bill, { id: "billing", was: "shop" })).rejects.toMatchObject({ code: "FUNCTION_WAS_CONFLICT" });
    const after = await deploy(bill, { id: "billing", was: ["shop", "billing"] });
    expect(await send(after)).toEqual(["bill started"]);
    await clock.advance("2h");
    expect(await after.runs.list({ state: "completed" })).toHaveLength(4);
  });
});

describe("names of functions", () => {
  const define = (...all: Names[]) => {
    const { idem } = oneStore("memory:").process();
    for (const names of all) idem.createFunction(names, { event: "go" }, async () => null);
  };

  test.each<[string, Names[]]>([
    [
      "two that take each other's",
      [
        { id: "a", was: "b" },
        { id: "b", was: "a" },
      ],
    ],
    ["one that had the id of another", [{ id: "a" }, { id: "b", was: "a" }]],
    ["one that takes an id another had", [{ id: "b", was: "a" }, { id: "a" }]],
    [
      "two that had one id",
      [
        { id: "a", was: "x" },
        { id: "b", was: "x" },
      ],
    ],
  ])("%s are refused", (_, all) => {
    expect(() => define(...all)).toThrow(expect.objectContaining({ code: "FUNCTION_WAS_CONFLICT" }));
  });

  test.each<[unknown, RegExp]>([
    ["a b", /each of `was`/],
    ["", /the id it had before/],
    [[], /the id it had before/],
    [["x", "x"], /twice/],
    ["a", /begins with the id it has now/],
  ])("`was: %j` is refused", (was, why) => {
    expect(() => define({ id: "a", was: was as string })).toThrow(why);
  });

  test("`was` that names nothing known is no fault", async () => {
    const { deploy, send } = world("memory:");
    expect(await send(await deploy({ id: "charge", was: "never-there" }))).toEqual(["charge started"]);
  });
});
