// Runs that start others: by invoking them and waiting, and by sending events.
import type { Context } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

export const children: Workload = {
  functions: [
    {
      id: "parent",
      event: "children/invoke",
      ends: ({ fails }: Data) => (fails ? "failed" : "completed"),
      steps: () => ["before"],
    },
    {
      id: "child",
      event: null,
      ends: ({ fails }: Data) => (fails ? "failed" : "completed"),
      steps: () => ["work"],
    },
    { id: "fan-out", event: "children/fan-out", ends: () => "completed", steps: () => ["before", "after"] },
    { id: "leaf", event: "children/leaf", ends: () => "completed", steps: () => ["work"] },
  ],

  define(idem, kit) {
    const child = idem.createFunction({ id: "child", retries: 0, triggers: [] }, async (context: any) => {
      const { n, fails } = context.event.data;
      return { n, values: { work: await kit.run(context, "child", "work", { failures: fails ? 9 : 0 }) } };
    });
    idem.createFunction({ id: "parent", retries: 0 }, { event: "children/invoke" }, async (context: Context) => {
      const { n, fails } = context.event.data;
      const before = await kit.run(context, "parent", "before");
      const made = kit.handed(
        context,
        "invoke",
        await context.step.invoke("invoke", { function: child, data: { n, fails } }),
      );
      return { n, child: made, values: { before } };
    });
    idem.createFunction({ id: "fan-out" }, { event: "children/fan-out" }, async (context: Context) => {
      const { n, count } = context.event.data;
      const before = await kit.run(context, "fan-out", "before");
      const events = Array.from({ length: count }, (_, i) => ({ name: "children/leaf", data: { n, i } }));
      kit.handed(context, "send", await context.step.sendEvent("send", events));
      const after = await kit.run(context, "fan-out", "after");
      return { n, values: { before, after } };
    });
    idem.createFunction({ id: "leaf" }, { event: "children/leaf" }, async (context: Context) => {
      return { n: context.event.data.n, values: { work: await kit.run(context, "leaf", "work") } };
    });
  },

  messages(random, n) {
    const id = random.chance(0.5) ? `children-${n}` : null;
    if (random.chance(0.5)) return [{ name: "children/invoke", id, data: { n, fails: random.chance(0.25) } }];
    return [{ name: "children/fan-out", id, data: { n, count: random.int(1, 3) } }];
  },
};
