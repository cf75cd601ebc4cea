import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";
import { type DestinationOf, destinationKey } from "./destination-key.ts";

const run: DestinationOf = { env: "default", fn: "shop-invoice", subject: '"p1"', generation: "01A" };

test("a key has at most 45 characters, all of them safe in a header", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), fc.nat(), (subject, step, repeat) => {
      expect(destinationKey({ ...run, subject }, step, repeat)).toMatch(/^idem_[A-Za-z0-9_-]{40}$/);
    }),
  );
});

test("no two askers share a key: each part counts, and none can borrow from its neighbour", () => {
  const keys = [
    destinationKey(run, "charge", 0),
    destinationKey(run, "charge", 1),
    destinationKey(run, "charge:1", 0),
    destinationKey(run, "refund", 0),
    destinationKey({ ...run, env: "other" }, "charge", 0),
    destinationKey({ ...run, fn: "shop-refund" }, "charge", 0),
    destinationKey({ ...run, subject: '"p2"' }, "charge", 0),
    destinationKey({ ...run, subject: "1" }, "charge", 0),
    destinationKey({ ...run, subject: '"1"' }, "charge", 0),
    destinationKey({ ...run, generation: "01B" }, "charge", 0),
    destinationKey({ ...run, fn: "shop", subject: '-invoice"p1"' }, "charge", 0),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});

describe.each(stores)("destination keys on %s", (store) => {
  test("are the same on every retry, in a rerun and after a release by failure; new once the window ended by itself", async () => {
    const keys: string[] = [];
    const { idem, clock } = testIdem({ store });
    idem.createFunction(
      { id: "charge", retries: 1, backoff: () => 0, idempotency: { key: "event.data.order", afterFailure: "release" } },
      { event: "order/paid" },
      async ({ step }) => {
        await step.run("charge", ({ key }) => {
          keys.push(key);
          throw new Error("no");
        });
      },
    );
    await idem.start();
    const send = async () => {
      const [decision] = (await idem.send({ name: "order/paid", data: { order: 7 } })).decisions;
      await clock.advanceToEnd();
      return decision!;
    };
    const first = await send();
    expect(first.kind).toBe("started");
    await idem.runs.rerun(first.runId!);
    await clock.advanceToEnd();
    expect((await send()).kind).toBe("started");
    expect(keys).toHaveLength(6);
    expect(new Set(keys).size).toBe(1);
    await clock.advance("25h");
    expect((await send()).kind).toBe("started");
    expect(new Set(keys).size).toBe(2);
  });

  test("without a function key they hang on the event's id: the same id inside its window, another after it", async () => {
    const keys: string[] = [];
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "charge" }, { event: "order/paid" }, async ({ step }) =>
      step.run("charge", ({ key }) => keys.push(key)),
    );
    await idem.start();
    await idem.send({ id: "order-7", name: "order/paid" });
    await clock.advance("23h");
    await idem.send({ id: "order-7", name: "order/paid" });
    await clock.advance("2h");
    await idem.send({ id: "order-7", name: "order/paid" });
    await idem.idle();
    expect(keys).toHaveLength(2);
    expect(keys[0]).not.toBe(keys[1]);
  });
});

test("two steps, two turns of a loop, two functions and two environments have different keys for one event", async () => {
  const keys: string[] = [];
  const world = testIdem();
  for (const [env, id] of [
    ["default", "a"],
    ["default", "b"],
    ["staging", "a"],
  ] as const) {
    const idem = world.client({ env, id: `app-${env}-${id}` });
    idem.createFunction({ id: "fn", idempotency: "event.data.n" }, { event: "a/b" }, async ({ step }) => {
      for (let i = 0; i < 2; i++) await step.run("write", ({ key }) => keys.push(key));
      await step.run("other", ({ key }) => keys.push(key));
    });
    await idem.start();
    await idem.send({ id: "e1", name: "a/b", data: { n: 1 } });
    await idem.idle();
    await idem.stop();
  }
  await world.clock.tick("5s");
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.length).toBeGreaterThanOrEqual(6);
});

test("the timeline shows each step the key it was given", async () => {
  const given: string[] = [];
  const one = await oneRun(async ({ step }) => {
    for (let i = 0; i < 2; i++) await step.run("write", ({ key }) => given.push(key));
  });
  await one.end();
  const { timeline } = (await one.idem.runs.get(one.runId))!;
  expect(timeline.map((entry) => entry.destinationKey)).toEqual(given);
});
