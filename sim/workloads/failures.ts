// Steps and code that fail a known number of times, and a handler that must hear of each final failure once.
import type { Context } from "./kit.ts";
import type { Data, Workload } from "./workload.ts";

const retries = 2;
export const backoffMs = 700;

export const failures: Workload = {
  functions: [
    {
      id: "flaky",
      event: "failures/go",
      ends: ({ step }: Data) => (step > retries ? "failed" : "completed"),
      steps: () => ["steady", "flaky"],
      failures: ({ step, code }: Data) => ({ steady: 0, flaky: Math.min(step, retries), "": code }),
      failureHandler: "flaky-failure",
    },
    { id: "flaky-failure", event: "inngest/function.failed", ends: () => "completed", steps: () => ["told"] },
  ],

  define(idem, kit) {
    idem.createFunction(
      {
        id: "flaky",
        retries,
        backoff: () => backoffMs,
        onFailure: async (context: Context) => ({ values: { told: await kit.run(context, "flaky-failure", "told") } }),
      },
      { event: "failures/go" },
      async (context: Context) => {
        const { n, step, code } = context.event.data;
        const steady = await kit.run(context, "flaky", "steady");
        const flaky = await kit.run(context, "flaky", "flaky", { failures: step });
        // After the last step, for each step that is recorded gives the code between steps its attempts back.
        if (context.attempt <= code) throw new Error(`failure ${context.attempt} between steps`);
        return { n, values: { steady, flaky } };
      },
    );
  },

  messages(random, n) {
    const data = { n, step: random.int(0, 3), code: random.chance(0.3) ? random.int(1, 2) : 0 };
    return [{ name: "failures/go", id: random.chance(0.5) ? `failures-${n}` : null, data }];
  },
};
