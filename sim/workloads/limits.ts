// Runs that stand in line: for slots of their function and slots they share, for their turn to start, and not for ever.
import type { Context } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

const pool = ({ pool }: Data) => `pool ${pool}`;
const shared = () => "shared";
const sharedLimit = { limit: 3, key: '"db"', scope: "env" } as const;

export const limits: Workload = {
  functions: [
    {
      id: "pooled",
      event: "limits/go",
      slots: [
        { of: pool, limit: 2 },
        { of: shared, limit: 3 },
      ],
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "side-by-side",
      event: "limits/go",
      admits: ({ wide }) => wide === true,
      slots: [{ of: shared, limit: 3 }],
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "spaced",
      event: "limits/space",
      throttle: { of: ({ pool }) => pool, limit: 1, periodMs: 2_000, burst: 2 },
      ends: () => "completed",
      steps: () => ["a"],
    },
    {
      id: "spaced-single",
      event: "limits/space",
      slots: [{ of: () => "spaced-single", limit: 1 }],
      throttle: { of: () => 0, limit: 2, periodMs: 3_000, burst: 1 },
      isPaused: true,
      ends: () => "completed",
      steps: () => ["a", "b"],
      failures: ({ fails }: Data) => ({ a: fails ? 1 : 0, b: 0 }),
    },
    {
      id: "rated",
      event: "limits/rate",
      key: { of: ({ order }: Data) => order, windowMs: 9_000, releasedOnFailure: false, held: false },
      rateLimit: { of: ({ pool }) => pool, limit: 2, periodMs: 6_000 },
      isPaused: true,
      ends: () => "completed",
      steps: () => ["a"],
    },
    {
      id: "impatient",
      event: "limits/wait",
      slots: [{ of: () => "impatient", limit: 1 }],
      startWithinMs: 4_000,
      ends: () => "completed",
      steps: () => ["a"],
    },
  ],

  define(idem, kit) {
    idem.createFunction(
      {
        id: "pooled",
        concurrency: [{ limit: 2, key: "event.data.pool" }, sharedLimit],
        priority: { run: "event.data.urgent ? 60 : 0" },
      },
      { event: "limits/go" },
      async (context: Context) => {
        const { n, takesMs } = context.event.data;
        const a = await kit.run(context, "pooled", "a", { takesMs });
        await kit.sleep(context, "nap", 700);
        const b = await kit.run(context, "pooled", "b", { takesMs });
        return { n, values: { a, b } };
      },
    );
    idem.createFunction(
      { id: "side-by-side", concurrency: [sharedLimit] },
      { event: "limits/go", if: "event.data.wide == true" },
      async (context: Context) => {
        const { n, takesMs } = context.event.data;
        const [a, b] = await Promise.all(["a", "b"].map((step) => kit.run(context, "side-by-side", step, { takesMs })));
        return { n, values: { a, b } };
      },
    );
    idem.createFunction(
      { id: "spaced", throttle: { limit: 1, period: "2s", burst: 2, key: "event.data.pool" } },
      { event: "limits/space" },
      async (context: Context) => ({
        n: context.event.data.n,
        values: { a: await kit.run(context, "spaced", "a") },
      }),
    );
    idem.createFunction(
      {
        id: "spaced-single",
        concurrency: 1,
        throttle: { limit: 2, period: "3s" },
        retries: 2,
        backoff: () => 700,
      },
      { event: "limits/space" },
      async (context: Context) => {
        const { n, takesMs, fails } = context.event.data;
        const a = await kit.run(context, "spaced-single", "a", { takesMs, failures: fails ? 1 : 0 });
        const b = await kit.run(context, "spaced-single", "b");
        return { n, values: { a, b } };
      },
    );
    idem.createFunction(
      {
        id: "rated",
        rateLimit: { limit: 2, period: "6s", key: "event.data.pool" },
        idempotency: { key: "event.data.order", window: 9_000 },
      },
      { event: "limits/rate" },
      async (context: Context) => ({ n: context.event.data.n, values: { a: await kit.run(context, "rated", "a") } }),
    );
    idem.createFunction(
      { id: "impatient", concurrency: { limit: 1 }, timeouts: { start: "4s" } },
      { event: "limits/wait" },
      async (context: Context) => {
        const { n, takesMs } = context.event.data;
        return { n, values: { a: await kit.run(context, "impatient", "a", { takesMs: takesMs * 2 }) } };
      },
    );
  },

  messages(random, n) {
    const name = random.pick(["limits/go", "limits/go", "limits/space", "limits/rate", "limits/wait"]);
    const id = random.chance(0.3) ? `limits-${n}` : null;
    return Array.from({ length: random.int(1, 4) }, (_, i) => ({
      name,
      id: id === null ? null : `${id}-${i}`,
      data: {
        n,
        i,
        pool: random.int(1, 2),
        order: random.int(1, 5),
        takesMs: random.int(50, 1_200),
        wide: random.chance(0.5),
        urgent: random.chance(0.3),
        fails: random.chance(0.3),
      },
    }));
  },
};
