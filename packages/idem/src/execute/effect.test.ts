// Effects that are recorded: what was sent where, once, and never again blindly when its destination may have forgotten the key.
import { describe, expect, expectTypeOf, test } from "vitest";
import { destination } from "../dedup/destinations.ts";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { held, stores } from "../testing/one-run.suite.ts";
import { type OneStore, oneStore } from "../testing/one-store.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import type { EffectContext, EffectOptions } from "./effect.ts";

const hour = 3_600_000;
const bank = destination({ name: "bank", remembers: "10m" });

interface World extends OneStore {
  readonly logged: string[];
}

function openWorld(store: (typeof stores)[number]): World {
  return { ...oneStore(store), logged: [] };
}

/** A process with one function, whose one step is an effect. */
async function node(
  world: World,
  call: (context: EffectContext) => unknown,
  options: Partial<EffectOptions<any>> & { readonly fn?: Partial<FunctionOptions> } = {},
) {
  const { fn, ...of } = options;
  const error = (...words: unknown[]) => world.logged.push(words.join(" "));
  const made = world.process({ logger: { debug() {}, info() {}, warn() {}, error } });
  made.idem.createFunction(
    { id: "pay", idempotency: "event.data.order", backoff: () => 1_000, ...fn },
    { event: "order/paid" },
    ({ event, step }) =>
      step.effect(
        "charge",
        { destination: bank, entity: `order-${event.data.order}`, ...of } as EffectOptions<any>,
        call,
      ),
  );
  await made.idem.start();
  return made;
}

type Node = Awaited<ReturnType<typeof node>>;

const pay = async ({ idem }: Node, order = 7): Promise<string> =>
  (await idem.send({ name: "order/paid", data: { order } })).decisions[0]!.runId!;
const only = async ({ idem }: Node) => {
  const list = await idem.effects.list();
  expect(list).toHaveLength(1);
  return list[0]!;
};
class HttpError extends Error {
  constructor(readonly status: number) {
    super(`answered ${status}`);
  }
}

describe.each(stores)("on %s", (store) => {
  test("an effect is recorded with its key, entity and receipt, and its value is the step's", async () => {
    const world = openWorld(store);
    const seen: EffectContext[] = [];
    const process = await node(world, (context) => {
      seen.push(context);
      return { id: "in_1", total: 10 };
    });
    const runId = await pay(process);
    await process.idem.idle();
    expect(await process.idem.runs.get(runId)).toMatchObject({
      state: "completed",
      output: { id: "in_1", total: 10 },
      timeline: [{ name: "charge", kind: "effect", state: "completed" }],
    });
    const [{ key, headers, attempt }] = seen as [EffectContext];
    expect([headers, attempt]).toEqual([{ "Idempotency-Key": key }, 1]);
    const at = world.clock.now();
    expect(await only(process)).toEqual({
      id: `bank:order-7:${key}`,
      destination: "bank",
      entity: "order-7",
      key,
      state: "sent",
      receipt: "in_1",
      runId,
      step: "charge",
      firstTriedAt: at,
      tries: 1,
      settledAt: at,
      settledBy: "answer",
      reason: null,
    });
  });

  test("a rerun gets the recorded value, and nothing is sent", async () => {
    const world = openWorld(store);
    let calls = 0;
    const process = await node(world, () => ({ id: `in_${++calls}` }));
    const first = await pay(process);
    await process.idem.idle();
    await world.clock.advance("200d");
    const { runId } = await process.idem.runs.rerun(first);
    await process.idem.idle();
    expect((await process.idem.runs.get(runId))!.output).toEqual({ id: "in_1" });
    expect([calls, (await only(process)).runId]).toEqual([1, first]);
  });

  test("a process that dies after the record and before the step's own memo does not make it be sent again", async () => {
    const world = openWorld(store);
    let calls = 0;
    const call = () => ({ id: `in_${++calls}` });
    const first = await node(world, call);
    const advance = world.store.advance.bind(world.store);
    world.store.advance = async (input) => {
      // The record is there; the memo never arrives.
      if (calls === 1 && input.steps.length > 0) first.lose();
      return first.isLost() ? Promise.reject(new Error("lost")) : advance(input);
    };
    const runId = await pay(first);
    await world.clock.tick("1s");
    world.store.advance = advance;
    const second = await node(world, call);
    await world.clock.tick("40s");
    expect(await second.idem.runs.get(runId)).toMatchObject({ state: "completed", output: { id: "in_1" } });
    expect(calls).toBe(1);
  });

  test("a try that ended in nobody knows what is made again with the same key while the destination remembers it", async () => {
    const world = openWorld(store);
    const keys: string[] = [];
    const process = await node(world, ({ key, attempt }) => {
      keys.push(key);
      if (attempt < 3) throw new Error("socket hang up");
      return { id: "in_1" };
    });
    const at = world.clock.now();
    await pay(process);
    await world.clock.advance("1m");
    expect(new Set(keys).size).toBe(1);
    expect(await only(process)).toMatchObject({ state: "sent", tries: 3, firstTriedAt: at });
    expect(keys).toHaveLength(3);
  });

  test("row 29: first tried 7 h ago at a destination that remembers 6 h, an effect is parked, never re-sent blind", async () => {
    const world = openWorld(store);
    let calls = 0;
    const call = () => {
      calls++;
      throw new Error("socket hang up");
    };
    const options = { destination: "paypal/orders", fn: { backoff: () => 7 * hour } } as const;
    const process = await node(world, call, options);
    const since = world.clock.now();
    const runId = await pay(process);
    await process.idem.idle();
    expect(await only(process)).toMatchObject({ state: "unknown", tries: 1 });
    await world.clock.advance("7h");
    const { id } = await only(process);
    expect(await process.idem.runs.get(runId)).toMatchObject({
      state: "failed",
      error: {
        message: expect.stringMatching(
          new RegExp(`${id}.*${new Date(since).toISOString()}.*effects resolve.*OUTCOME_UNKNOWN`),
        ),
      },
    });
    expect(await process.idem.effects.list({ parked: true })).toMatchObject([{ id, state: "parked", tries: 1 }]);
    expect(world.logged.filter((line) => line.startsWith("idem: "))).toEqual([expect.stringContaining(id)]);
    expect(calls).toBe(1);
    // Nor when somebody reruns without having looked.
    await process.idem.runs.rerun(runId);
    await world.clock.advance("1m");
    expect([calls, (await only(process)).state]).toEqual([1, "parked"]);
  });

  test("row 29, with a look-up: what it finds is recorded, what surely is not there is sent, and what it cannot tell is parked", async () => {
    for (const [answer, state, sent] of [
      [{ found: { id: "in_1" } }, "sent", 1],
      ["absent", "sent", 2],
      ["unknown", "parked", 1],
      [undefined, "parked", 1],
    ] as const) {
      const world = openWorld(store);
      const keys: string[] = [];
      const asked: unknown[] = [];
      const since = world.clock.now();
      const process = await node(
        world,
        ({ key, attempt }) => {
          keys.push(key);
          if (attempt === 1) throw new Error("socket hang up");
          return { id: "in_2" };
        },
        {
          destination: "paypal/orders",
          fn: { backoff: () => 7 * hour },
          reconcile: ({ key, since }) => {
            asked.push([key, since]);
            return answer as never;
          },
        },
      );
      const runId = await pay(process);
      await world.clock.advance("7h");
      expect(await only(process)).toMatchObject({ state, firstTriedAt: since });
      expect([keys.length, new Set(keys).size]).toEqual([sent, 1]);
      expect(asked).toEqual([[keys[0], since]]);
      const { output } = (await process.idem.runs.get(runId))!;
      expect(output).toEqual(state === "parked" ? null : { id: answer === "absent" ? "in_2" : "in_1" });
    }
  });

  test("when it was first tried survives the death of the process that tried", async () => {
    const world = openWorld(store);
    const [begun, never] = [held(), held()];
    let calls = 0;
    const first = await node(world, async () => {
      calls++;
      begun.release();
      await never.promise;
    });
    const runId = await pay(first);
    await begun.promise;
    first.lose();
    // Nobody is there to take it over until the bank has forgotten.
    await world.clock.tick("10m");
    const second = await node(world, () => {
      calls++;
      return { id: "in_2" };
    });
    await world.clock.tick("40s");
    expect(await second.idem.runs.get(runId)).toMatchObject({ state: "failed" });
    expect([calls, (await only(second)).state]).toEqual([1, "parked"]);
  });

  test("a person's receipt settles a parked effect, and a rerun from the step goes on with it", async () => {
    const world = openWorld(store);
    let calls = 0;
    const process = await node(
      world,
      () => {
        calls++;
        throw new Error("socket hang up");
      },
      { fn: { backoff: () => hour } },
    );
    const runId = await pay(process);
    await world.clock.advance("1h");
    const { id } = await only(process);
    expect(await process.idem.effects.resolve(id, { receipt: "in_9" }, { reason: "seen" })).toEqual({
      id,
      state: "sent",
    });
    const rerun = await process.idem.runs.rerun(runId, { fromStep: "charge" });
    await process.idem.idle();
    expect(await process.idem.runs.get(rerun.runId)).toMatchObject({ state: "completed", output: { id: "in_9" } });
    expect(await only(process)).toMatchObject({ state: "sent", receipt: "in_9", settledBy: "person", reason: "seen" });
    expect(calls).toBe(1);
    await expect(process.idem.effects.resolve(id, "retry")).rejects.toThrow(/in_9.*EFFECT_NOT_OPEN/);
  });

  test("a person who knows that nothing happened lets it be sent again, with the same key", async () => {
    const world = openWorld(store);
    const keys: string[] = [];
    const process = await node(
      world,
      ({ key }) => {
        keys.push(key);
        if (keys.length === 1) throw new Error("socket hang up");
        return { id: "in_2" };
      },
      { fn: { backoff: () => hour } },
    );
    const runId = await pay(process);
    await world.clock.advance("1h");
    const { id } = await only(process);
    expect(await process.idem.effects.resolve(id, "retry")).toEqual({ id, state: "released" });
    expect(await process.idem.effects.list()).toEqual([]);
    const rerun = await process.idem.runs.rerun(runId, { fromStep: "charge" });
    await process.idem.idle();
    expect(await process.idem.runs.get(rerun.runId)).toMatchObject({ state: "completed", output: { id: "in_2" } });
    expect(keys[1]).toBe(keys[0]);
  });

  test("a definite refusal of the first try leaves nothing behind; of a later one it says nothing about the first", async () => {
    const world = openWorld(store);
    let answers: readonly number[] = [400, 400];
    const process = await node(
      world,
      ({ attempt }) => {
        throw new HttpError(answers[attempt - 1]!);
      },
      { fn: { retries: 1, idempotency: undefined } as never },
    );
    await pay(process, 1);
    await world.clock.advance("1m");
    answers = [400, 402];
    await pay(process, 2);
    await world.clock.advance("1m");
    expect(await process.idem.effects.list()).toEqual([]);
    for (const undecided of [408, 409, 425, 429, 500, 503]) {
      answers = [undecided, 400];
      await pay(process, undecided);
      await world.clock.advance("1m");
    }
    const left = await process.idem.effects.list();
    expect(left.map(({ entity, state }) => [entity, state])).toEqual(
      [408, 409, 425, 429, 500, 503].map((status) => [`order-${status}`, "unknown"]),
    );
  });

  test("a rerun beside a run that is still sending waits for it and gets its value", async () => {
    const world = openWorld(store);
    const [begun, go] = [held(), held()];
    let calls = 0;
    const process = await node(world, async () => {
      calls++;
      begun.release();
      await go.promise;
      return { id: "in_1" };
    });
    const first = await pay(process);
    await begun.promise;
    const { runId } = await process.idem.runs.rerun(first);
    await world.clock.tick("1s");
    expect(await only(process)).toMatchObject({ state: "in-flight", runId: first });
    await expect(process.idem.effects.resolve((await only(process)).id, "retry")).rejects.toThrow(/is at it/);
    go.release();
    await world.clock.advance("5m");
    expect(await process.idem.runs.get(runId)).toMatchObject({ state: "completed", output: { id: "in_1" } });
    expect(calls).toBe(1);
  });

  test("an effect whose record was given back while it was being sent is on record all the same", async () => {
    const world = openWorld(store);
    const [begun, go] = [held(), held()];
    const process = await node(world, async () => {
      begun.release();
      await go.promise;
      return { id: "in_1" };
    });
    await pay(process);
    await begun.promise;
    const { key } = await only(process);
    const released = { env: "default", scope: "effect:bank:order-7", key, fence: null, reason: "by hand" };
    expect(await world.store.release(released)).toBe("released");
    go.release();
    await process.idem.idle();
    expect(await only(process)).toMatchObject({ state: "sent", receipt: "in_1" });
  });

  test("a call that hangs longer than its lease is overtaken with the same key, and leaves one record", async () => {
    const world = openWorld(store);
    const [begun, go] = [held(), held()];
    const keys: string[] = [];
    const process = await node(world, async ({ key }) => {
      keys.push(key);
      if (keys.length > 1) return { id: "in_1" };
      begun.release();
      await go.promise;
      return { id: "in_1", late: true };
    });
    const first = await pay(process);
    await begun.promise;
    const { runId } = await process.idem.runs.rerun(first);
    await world.clock.tick("6m");
    expect(await process.idem.runs.get(runId)).toMatchObject({ state: "completed", output: { id: "in_1" } });
    go.release();
    await process.idem.idle();
    expect(await process.idem.runs.get(first)).toMatchObject({ state: "completed" });
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(await only(process)).toMatchObject({ state: "sent", tries: 2, runId });
  });

  test("without a key, a second try looks up first, and not before the destination surely lists the first", async () => {
    const world = openWorld(store);
    const [sent, asked]: [number[], number[]] = [[], []];
    const began = world.clock.now();
    const process = await node(
      world,
      () => {
        sent.push(world.clock.now() - began);
        if (sent.length < 3) throw new Error("socket hang up");
        return { ts: "1.2" };
      },
      {
        destination: "slack",
        fn: { backoff: () => 20_000, retries: 9 },
        receipt: ({ ts }) => ts,
        reconcile: () => {
          asked.push(world.clock.now() - began);
          return "absent";
        },
      },
    );
    await pay(process);
    await world.clock.advance("10m");
    expect(sent).toEqual([0, 60_000, 120_000]);
    expect(asked).toEqual([20_000, 60_000, 80_000, 120_000]);
    expect(await only(process)).toMatchObject({ state: "sent", receipt: "1.2", tries: 3 });
  });

  test("two effects for one entity are found, if they are near each other", async () => {
    const world = openWorld(store);
    const process = world.process();
    let n = 0;
    process.idem.createFunction({ id: "pay" }, { event: "order/paid" }, ({ event, step }) =>
      step.effect("charge", { destination: "stripe", entity: event.data.order }, () => ({ id: `in_${++n}` })),
    );
    await process.idem.start();
    const send = (order: string) => process.idem.send({ name: "order/paid", data: { order } });
    await send("a:b");
    await send("c");
    await world.clock.advance("1d");
    await send("a:b");
    await process.idem.idle();
    const { effects } = process.idem;
    expect(await effects.doubled({ within: "2d" })).toMatchObject([
      { destination: "stripe", entity: "a:b", effects: [{ receipt: "in_1" }, { receipt: "in_3" }] },
    ]);
    expect(await effects.doubled({ within: "1h" })).toEqual([]);
    expect(await effects.doubled({ within: "2d", destination: "resend" })).toEqual([]);
    const all = await effects.list({ destination: "stripe" });
    expect(all).toHaveLength(3);
    expect(await effects.list({ after: all[0]!.id })).toEqual(all.slice(1));
    expect(await effects.list({ limit: 1 })).toEqual(all.slice(0, 1));
    expect(await effects.list({ entity: "c" })).toMatchObject([{ receipt: "in_2" }]);
    expect(await effects.list({ destination: "stripe", entity: "a:b" })).toHaveLength(2);
    expect(await effects.list({ destination: "strip" })).toEqual([]);
    await expect(effects.resolve("stripe:nobody:x", "retry")).rejects.toThrow(/EFFECT_UNKNOWN/);
  });

  test("a value that cannot be kept fails the step with its receipt, and is not sent again", async () => {
    const world = openWorld(store);
    let calls = 0;
    const process = await node(world, () => ({ id: `in_${++calls}`, page: "x".repeat(300_000) }));
    const runId = await pay(process);
    await process.idem.idle();
    await process.idem.runs.rerun(runId);
    await process.idem.idle();
    for (const run of await process.idem.runs.list()) {
      expect(run.error?.message).toMatch(/receipt in_1.*EFFECT_TOO_LARGE/);
    }
    expect([calls, (await only(process)).receipt]).toEqual([1, "in_1"]);
  });

  test("what is written wrongly is refused before anything is claimed", async () => {
    const world = openWorld(store);
    const process = world.process();
    const wrong: readonly (readonly [unknown, RegExp])[] = [
      [{ destination: "stripe" }, /needs an entity/],
      [{ destination: "stripe", entity: "x".repeat(201) }, /needs an entity/],
      [{ entity: "a" }, /needs a destination/],
      [{ destination: { name: "x" }, entity: "a" }, /needs a destination/],
      [{ destination: "nobody", entity: "a" }, /none of stripe/],
      [{ destination: "postmark", entity: "a" }, /needs a reconcile function/],
    ];
    for (const [i, [options]] of wrong.entries()) {
      process.idem.createFunction({ id: `f${i}`, retries: 0 }, { event: `e${i}` }, ({ step }) =>
        step.effect("charge", options as never, () => 1),
      );
    }
    await process.idem.start();
    for (const [i, [, why]] of wrong.entries()) {
      const { decisions } = await process.idem.send({ name: `e${i}` });
      expect((await process.idem.runs.wait(decisions[0]!.runId!)).error?.message).toMatch(why);
    }
    expect(await world.store.reads.claims("default", { under: "effect:", limit: 10 })).toEqual([]);
  });
});

test("types: without a key a look-up must be given, and the value is the callback's", () => {
  const { idem } = testIdem();
  idem.createFunction({ id: "types" }, { event: "a" }, async ({ step }) => {
    const one = await step.effect("a", { destination: "stripe", entity: "a" }, async () => ({
      id: "in_1",
      at: new Date(0),
    }));
    expectTypeOf(one).toEqualTypeOf<{ id: string; at: string }>();
    const two = await step.effect("b", { destination: bank, entity: "a", receipt: (n: number) => String(n) }, () => 1);
    expectTypeOf(two).toEqualTypeOf<number>();
    // @ts-expect-error nothing but a look-up tells a second try from the first
    await step.effect("c", { destination: "slack", entity: "a" }, () => 1);
    await step.effect("d", { destination: "slack", entity: "a", reconcile: () => "absent" }, () => 1);
    // @ts-expect-error nobody knows it
    await step.effect("e", { destination: "strip", entity: "a" }, () => 1);
    // @ts-expect-error the receipt is read from the value
    await step.effect("f", { destination: bank, entity: "a", receipt: (n: number) => String(n) }, () => "x");
  });
});
