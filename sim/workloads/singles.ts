// Runs of which only one may be open, runs that an event ends, and events that wait for a person.
import type { Context } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

const keys = [1, 2];
const key = ({ key }: Data) => key;

export const singles: Workload = {
  functions: [
    {
      id: "first-stays",
      event: "singles/go",
      singleton: { of: key, mode: "skip" },
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "last-stays",
      event: "singles/go",
      singleton: { of: key, mode: "cancel" },
      slots: [{ of: () => "last-stays", limit: 1 }],
      isPaused: true,
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "last-word-stays",
      event: "singles/go",
      debounce: { of: key, periodMs: 1_200, timeoutMs: null },
      singleton: { of: key, mode: "cancel" },
      rateLimit: { of: key, limit: 3, periodMs: 9_000 },
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "stoppable",
      event: "singles/begin",
      cancelOn: { event: "singles/stop", of: key, lastsMs: null },
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "stoppable-at-first",
      event: "singles/begin",
      cancelOn: { event: "singles/stop", of: key, lastsMs: 4_000 },
      slots: [{ of: () => "stoppable-at-first", limit: 2 }],
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "strict",
      event: "singles/begin",
      needs: ({ order }: Data) => order,
      isPaused: true,
      key: { of: ({ order }: Data) => order, windowMs: 10_000, releasedOnFailure: false, held: false },
      ends: () => "completed",
      steps: () => ["a"],
    },
  ],

  define(idem, kit) {
    const go = { event: "singles/go" };
    const begin = { event: "singles/begin" };
    const stepped = (fn: string, napMs: number) => async (context: Context) => {
      const { n, takesMs } = context.event.data;
      const a = await kit.run(context, fn, "a", { takesMs });
      await kit.sleep(context, "nap", napMs);
      const b = await kit.run(context, fn, "b");
      return { n, values: { a, b } };
    };
    const singletonKey = "event.data.key";
    idem.createFunction(
      { id: "first-stays", singleton: { mode: "skip", key: singletonKey } },
      go,
      stepped("first-stays", 2_500),
    );
    idem.createFunction(
      { id: "last-stays", concurrency: 1, singleton: { mode: "cancel", key: singletonKey } },
      go,
      stepped("last-stays", 2_500),
    );
    idem.createFunction(
      {
        id: "last-word-stays",
        debounce: { period: 1_200, key: "event.data.key" },
        singleton: { mode: "cancel", key: singletonKey },
        rateLimit: { limit: 3, period: "9s", key: "event.data.key" },
      },
      go,
      stepped("last-word-stays", 3_000),
    );
    // Long enough that only the event that stops it ends it, unless nothing does.
    idem.createFunction(
      { id: "stoppable", cancelOn: [{ event: "singles/stop", match: "data.key" }] },
      begin,
      stepped("stoppable", 3_000_000),
    );
    idem.createFunction(
      {
        id: "stoppable-at-first",
        concurrency: 2,
        cancelOn: [{ event: "singles/stop", if: "async.data.key == event.data.key", timeout: "4s" }],
      },
      begin,
      stepped("stoppable-at-first", 7_000),
    );
    idem.createFunction(
      { id: "strict", idempotency: { key: "event.data.order", window: 10_000, onMissing: "reject" } },
      begin,
      async (context: Context) => ({ n: context.event.data.n, values: { a: await kit.run(context, "strict", "a") } }),
    );
  },

  closing: (n) => keys.map((key) => ({ name: "singles/stop", id: null, data: { n, key } })),

  messages(random, n) {
    const name = random.pick(["singles/go", "singles/go", "singles/begin", "singles/stop"]);
    const id = random.chance(0.4) ? `singles-${n}` : null;
    const order = random.chance(0.6) ? { order: random.int(1, 3) } : {};
    return Array.from({ length: random.int(1, 2) }, (_, i) => ({
      name,
      id: id === null ? null : `${id}-${i}`,
      data: { n, i, key: random.pick(keys), takesMs: random.int(20, 900), ...order },
    }));
  },
};
