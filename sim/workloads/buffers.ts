// Events that wait for others: a silence, a batch; with keys that repeat inside and across them, and runs that wait for the answer.
import { epochMs } from "../store-clock.ts";
import type { Context } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

const topic = ({ topic }: Data) => topic;
const order = ({ order }: Data) => order;
// Before any time that a store can show: a date in its future puts a run off on purpose, and its clock may be set back by a day.
const longAgo = epochMs - 30 * 86_400_000;
const targets = ["debounced", "batched", "debounced-keyed", "one-by-one"];

export const buffers: Workload = {
  functions: [
    {
      id: "debounced",
      event: "buffers/say",
      debounce: { of: topic, periodMs: 2_000, timeoutMs: null },
      isPaused: true,
      ends: () => "completed",
      steps: () => ["a"],
    },
    {
      id: "debounced-keyed",
      event: "buffers/say",
      debounce: { of: topic, periodMs: 1_500, timeoutMs: 4_000 },
      key: { of: order, windowMs: 15_000, releasedOnFailure: false, held: false },
      rateLimit: { of: topic, limit: 2, periodMs: 10_000 },
      ends: () => "completed",
      steps: () => ["a"],
    },
    {
      id: "batched",
      event: "buffers/pile",
      batch: { of: topic, maxSize: 3, timeoutMs: 3_000 },
      key: { of: order, windowMs: 12_000, releasedOnFailure: true, held: false },
      isPaused: true,
      ends: ({ fails }: Data) => (fails ? "failed" : "completed"),
      steps: () => ["a"],
    },
    {
      id: "batched-limited",
      event: "buffers/pile",
      batch: { of: () => 0, admits: ({ bulk }) => bulk === true, maxSize: 4, timeoutMs: 5_000 },
      key: { of: ({ item }: Data) => item, windowMs: 86_400_000, releasedOnFailure: false, held: true },
      slots: [{ of: () => "batched-limited", limit: 1 }],
      rateLimit: { of: () => 0, limit: 3, periodMs: 8_000 },
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "one-by-one",
      event: null,
      slots: [{ of: () => "one-by-one", limit: 1 }],
      singleton: { of: topic, mode: "skip" },
      ends: ({ fails }: Data) => (fails ? "failed" : "completed"),
      steps: () => ["a"],
    },
    { id: "caller", event: "buffers/call", ends: () => "completed", steps: () => ["before", "after"] },
  ],

  define(idem, kit) {
    const say = { event: "buffers/say" };
    const pile = { event: "buffers/pile" };
    const one = (fn: string) => async (context: Context) => {
      const { n, fails, takesMs } = context.event.data;
      const count = context.events.length;
      const a = await kit.run(context, fn, "a", { failures: fails ? 9 : 0, takesMs });
      return { n, count, values: { a } };
    };
    idem.createFunction(
      { id: "debounced", debounce: { period: "2s", key: "event.data.topic" } },
      say,
      async (context: Context) => ({
        n: context.event.data.n,
        values: { a: await kit.run(context, "debounced", "a") },
      }),
    );
    idem.createFunction(
      {
        id: "debounced-keyed",
        debounce: { period: 1_500, timeout: "4s", key: "event.data.topic" },
        idempotency: { key: "event.data.order", window: 15_000 },
        rateLimit: { limit: 2, period: "10s", key: "event.data.topic" },
      },
      say,
      async (context: Context) => ({
        n: context.event.data.n,
        values: { a: await kit.run(context, "debounced-keyed", "a") },
      }),
    );
    idem.createFunction(
      {
        id: "batched",
        retries: 0,
        batchEvents: { maxSize: 3, timeout: "3s", key: "event.data.topic" },
        idempotency: { key: "event.data.order", window: 12_000, afterFailure: "release" },
      },
      pile,
      one("batched"),
    );
    idem.createFunction(
      {
        id: "batched-limited",
        batchEvents: { maxSize: 4, timeout: "5s", if: "event.data.bulk == true" },
        idempotency: { key: "event.data.item", window: "until-finished" },
        concurrency: 1,
        rateLimit: { limit: 3, period: "8s" },
      },
      pile,
      async (context: Context) => {
        const { n, takesMs } = context.event.data;
        const a = await kit.run(context, "batched-limited", "a", { takesMs });
        await kit.sleep(context, "nap", 1_500);
        const b = await kit.run(context, "batched-limited", "b");
        return { n, values: { a, b } };
      },
    );
    idem.createFunction(
      {
        id: "one-by-one",
        retries: 0,
        concurrency: 1,
        singleton: { mode: "skip", key: "event.data.topic" },
        triggers: [],
      },
      one("one-by-one"),
    );
    idem.createFunction({ id: "caller", retries: 0 }, { event: "buffers/call" }, async (context: Context) => {
      const { n, target, ...data } = context.event.data;
      const before = await kit.run(context, "caller", "before");
      // A run that was not started arrives as an error, and this code can live with it.
      const answer = await context.step
        .invoke("invoke", { function: target, data: { ...data, n } })
        .catch((error: Error) => ({ refused: error.message }));
      const after = await kit.run(context, "caller", "after");
      return { n, answer, values: { before, after } };
    });
  },

  messages(random, n) {
    const name = random.pick(["buffers/say", "buffers/say", "buffers/pile", "buffers/pile", "buffers/call"]);
    const id = random.chance(0.4) ? `buffers-${random.chance(0.3) ? 0 : n}` : null;
    const count = name === "buffers/call" ? 1 : random.int(1, 5);
    const isDated = random.chance(0.3);
    return Array.from({ length: count }, (_, i) => ({
      name,
      id: id === null ? null : `${id}-${name}-${i}`,
      ...(isDated ? { ts: longAgo - random.int(1, 4) } : {}),
      data: {
        n,
        i,
        topic: random.int(1, 2),
        order: random.int(1, 6),
        item: random.int(1, 15),
        bulk: random.chance(0.8),
        fails: random.chance(0.2),
        takesMs: random.int(20, 900),
        ...(name === "buffers/call" ? { target: random.pick(targets) } : {}),
      },
    }));
  },
};
