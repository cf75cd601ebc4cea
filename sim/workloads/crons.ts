// Runs that a schedule starts: alone, where two schedules meet, put off, one at a time, and with every way to treat what was missed.
import type { Context } from "./kit.ts";
import type { Workload } from "./workload.ts";

export const crons: Workload = {
  chaosMs: [60_000, 140_000],

  functions: [
    {
      id: "minutely",
      event: null,
      crons: [{ cron: "* * * * *", everyMinutes: 1, jitterMs: 0, startsMissed: 1 }],
      isPaused: true,
      ends: () => "completed",
      steps: () => ["a"],
    },
    {
      id: "meeting",
      event: null,
      crons: [
        { cron: "*/2 * * * *", everyMinutes: 2, jitterMs: 0, startsMissed: 3 },
        { cron: "*/3 * * * *", everyMinutes: 3, jitterMs: 0, startsMissed: 0 },
      ],
      slots: [{ of: () => "meeting", limit: 1 }],
      ends: () => "completed",
      steps: () => ["a"],
    },
    {
      id: "put-off",
      event: "crons/go",
      crons: [{ cron: "* * * * *", everyMinutes: 1, jitterMs: 5_000, startsMissed: 100 }],
      singleton: { of: () => 0, mode: "skip" },
      ends: () => "completed",
      steps: () => ["a", "b"],
    },
    {
      id: "newly-scheduled",
      event: null,
      isLate: true,
      crons: [{ cron: "* * * * *", everyMinutes: 1, jitterMs: 0, startsMissed: 0 }],
      ends: () => "completed",
      steps: () => ["a"],
    },
  ],

  define(idem, kit, version) {
    const once = (fn: string) => async (context: Context) => ({ values: { a: await kit.run(context, fn, "a") } });
    idem.createFunction({ id: "minutely" }, { cron: "* * * * *" }, once("minutely"));
    idem.createFunction(
      { id: "meeting", concurrency: 1 },
      [
        { cron: "*/2 * * * *", missed: { all: 3 } },
        { cron: "*/3 * * * *", missed: "skip" },
      ],
      once("meeting"),
    );
    idem.createFunction(
      { id: "put-off", singleton: { mode: "skip" } },
      [{ event: "crons/go" }, { cron: "* * * * *", jitter: "5s", missed: "all" }],
      async (context: Context) => {
        const a = await kit.run(context, "put-off", "a");
        await kit.sleep(context, "nap", 4_000);
        return { values: { a, b: await kit.run(context, "put-off", "b") } };
      },
    );
    if (version > 1) {
      idem.createFunction({ id: "newly-scheduled" }, { cron: "* * * * *", missed: "skip" }, once("newly-scheduled"));
    }
  },

  messages(random, n) {
    return [{ name: "crons/go", id: random.chance(0.5) ? `crons-${n}` : null, data: { n } }];
  },
};
