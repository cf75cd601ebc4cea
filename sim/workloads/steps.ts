// Steps one after another, side by side, and asleep. Three functions hear one event; one of them filters.
import type { Context } from "./kit.ts";
import type { Workload } from "./workload.ts";

const names = ["a", "b", "c"];

export const steps: Workload = {
  functions: [
    { id: "three-steps", event: "steps/go", ends: () => "completed", steps: () => names },
    {
      id: "parallel-steps",
      event: "steps/go",
      admits: ({ wide }) => wide === true,
      ends: () => "completed",
      steps: () => [...names, "last"],
    },
    { id: "sleeper", event: "steps/sleep", ends: () => "completed", steps: () => ["before", "after"] },
    { id: "late", event: "steps/go", ends: () => "completed", steps: () => ["late"], isLate: true },
  ],

  define(idem, kit, version) {
    idem.createFunction({ id: "three-steps" }, { event: "steps/go" }, async (context: Context) => {
      const values: Record<string, unknown> = {};
      for (const step of names) values[step] = await kit.run(context, "three-steps", step);
      return { n: context.event.data.n, values };
    });
    idem.createFunction(
      { id: "parallel-steps" },
      { event: "steps/go", if: "event.data.wide == true" },
      async (context: Context) => {
        const nap = kit.sleep(context, "nap", 1_500);
        const made = await Promise.all(names.map((step) => kit.run(context, "parallel-steps", step)));
        await nap;
        const last = await kit.run(context, "parallel-steps", "last");
        return { n: context.event.data.n, values: { a: made[0], b: made[1], c: made[2], last } };
      },
    );
    idem.createFunction({ id: "sleeper" }, { event: "steps/sleep" }, async (context: Context) => {
      const before = await kit.run(context, "sleeper", "before");
      await kit.sleep(context, "sleep", context.event.data.ms);
      const after = await kit.run(context, "sleeper", "after");
      return { n: context.event.data.n, values: { before, after } };
    });
    if (version > 1) {
      idem.createFunction({ id: "late" }, { event: "steps/go" }, async (context: Context) => {
        return { n: context.event.data.n, values: { late: await kit.run(context, "late", "late") } };
      });
    }
  },

  messages(random, n) {
    const id = random.chance(0.6) ? `steps-${random.chance(0.3) ? 0 : n}` : null;
    if (random.chance(0.4)) return [{ name: "steps/sleep", id, data: { n, ms: random.int(100, 15_000) } }];
    const count = random.chance(0.3) ? random.int(2, 4) : 1;
    return Array.from({ length: count }, (_, i) => ({
      name: "steps/go",
      id: id === null ? null : `${id}-${i}`,
      data: { n, i, wide: random.chance(0.5) },
    }));
  },
};
