// Steps that end their process each time they are entered (process.exit, out of memory), and runs beside them that have done nothing wrong.
import type { Context } from "./kit.ts";
import type { Workload } from "./workload.ts";

/** The most entries of each. Soon after one another, so that a world does not last for hours. */
const parks = { max: 3, delay: 500 } as const;
const fails = { max: 2, onMax: "fail", delay: 500 } as const;

export const deadly: Workload = {
  functions: [
    {
      id: "deadly",
      event: "deadly/park",
      ends: () => "parked",
      steps: () => [],
      entriesMax: { step: "fatal", count: parks.max },
    },
    {
      id: "deadly-fails",
      event: "deadly/fail",
      ends: () => "failed",
      steps: () => [],
      entriesMax: { step: "fatal", count: fails.max },
    },
    { id: "bystander", event: "deadly/beside", ends: () => "completed", steps: () => ["a", "b"] },
  ],

  define(idem, kit) {
    for (const [id, event, entries] of [
      ["deadly", "deadly/park", parks],
      ["deadly-fails", "deadly/fail", fails],
    ] as const) {
      idem.createFunction({ id, entries, retries: 0 }, { event }, async (context: Context) => {
        await kit.run(context, id, "before");
        await kit.run(context, id, "fatal", { endsProcess: true });
        throw new Error("nobody comes to here");
      });
    }
    idem.createFunction({ id: "bystander" }, { event: "deadly/beside" }, async (context: Context) => {
      const a = await kit.run(context, "bystander", "a");
      const b = await kit.run(context, "bystander", "b");
      return { n: context.event.data.n, values: { a, b } };
    });
  },

  messages(random, n) {
    const beside = Array.from({ length: random.int(1, 3) }, (_, i) => ({
      name: "deadly/beside",
      id: `beside-${n}-${i}`,
      data: { n, i },
    }));
    if (random.chance(0.6)) return beside;
    const name = random.pick(["deadly/park", "deadly/fail"]);
    return [{ name, id: `${name}-${n}`, data: { n } }, ...beside];
  },

  // Each entry costs a lease (20 s) and a rescue (5 s), and those beside it are put off in their turn.
  restMs: 240_000,
};
