// Steps side by side in limits that count steps: each has a slot of its own, runs in line go before them, and nobody is kept for ever.
import type { Context, Kit } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

const pool = ({ pool }: Data) => `wide pool ${pool}`;
const shared = () => "wide shared";
const sharedLimit = { limit: 4, key: '"wide"', scope: "env", parallelSteps: true } as const;

const names = ["a", "b", "c", "d"];
const failures = ({ fails }: Data) => ({ a: 0, b: fails ? 1 : 0, c: 0, d: fails ? 1 : 0 });

/** All steps at once; every second one of them fails first, where it is to. */
async function sideBySide(context: Context, kit: Kit, fn: string): Promise<Record<string, unknown>> {
  const { takesMs, fails } = context.event.data;
  const made = await Promise.all(
    names.map((step, i) =>
      kit.run(context, fn, step, { takesMs: takesMs * (1 + (i % 3)), failures: fails && i % 2 === 1 ? 1 : 0 }),
    ),
  );
  return Object.fromEntries(names.map((step, i) => [step, made[i]]));
}

export const wide: Workload = {
  functions: [
    {
      id: "wide-alone",
      event: "wide/go",
      slots: [{ of: () => "wide alone", limit: 3, isOfSteps: true }],
      ends: () => "completed",
      steps: () => [...names, "after", "last"],
      failures: (data) => ({ ...failures(data), after: 0, last: 0 }),
    },
    {
      id: "wide-pooled",
      event: "wide/go",
      admits: ({ pooled }) => pooled === true,
      slots: [
        { of: pool, limit: 2, isOfSteps: true },
        { of: shared, limit: 4, isOfSteps: true },
      ],
      ends: () => "completed",
      steps: () => names,
      failures,
    },
    {
      id: "wide-mixed",
      event: "wide/mix",
      slots: [
        { of: () => "wide mixed", limit: 2 },
        { of: shared, limit: 4, isOfSteps: true },
      ],
      ends: () => "completed",
      steps: () => names,
      failures,
    },
  ],

  define(idem, kit) {
    const often = { retries: 2, backoff: () => 700 };
    idem.createFunction(
      { id: "wide-alone", concurrency: { limit: 3, parallelSteps: true }, ...often },
      { event: "wide/go" },
      async (context: Context) => {
        const nap = kit.sleep(context, "nap", 600);
        // Found while its siblings are at work, or on their way into the store.
        const after = nap.then(() => kit.run(context, "wide-alone", "after"));
        const values = await sideBySide(context, kit, "wide-alone");
        const last = await kit.run(context, "wide-alone", "last");
        return { n: context.event.data.n, values: { ...values, after: await after, last } };
      },
    );
    idem.createFunction(
      {
        id: "wide-pooled",
        concurrency: [{ limit: 2, key: "event.data.pool", parallelSteps: true }, sharedLimit],
        ...often,
      },
      { event: "wide/go", if: "event.data.pooled == true" },
      async (context: Context) => ({
        n: context.event.data.n,
        values: await sideBySide(context, kit, "wide-pooled"),
      }),
    );
    idem.createFunction(
      { id: "wide-mixed", concurrency: [{ limit: 2 }, sharedLimit], ...often },
      { event: "wide/mix" },
      async (context: Context) => ({
        n: context.event.data.n,
        values: await sideBySide(context, kit, "wide-mixed"),
      }),
    );
  },

  messages(random, n) {
    const name = random.pick(["wide/go", "wide/go", "wide/mix"]);
    const id = random.chance(0.3) ? `wide-${n}` : null;
    return Array.from({ length: random.int(1, 3) }, (_, i) => ({
      name,
      id: id === null ? null : `${id}-${i}`,
      data: {
        n,
        i,
        pool: random.int(1, 2),
        pooled: random.chance(0.5),
        takesMs: random.int(20, 600),
        fails: random.chance(0.4),
      },
    }));
  },
};
