// Runs that wait for an event, and clients that send it: early, in time, twice, or never.
import type { Context } from "./kit.ts";
import type { Workload } from "./workload.ts";

const tokens = [1, 2, 3];

export const waits: Workload = {
  functions: [
    { id: "waiter", event: "waits/go", ends: () => "completed", steps: () => ["before", "after"] },
    { id: "racer", event: "waits/race", ends: () => "completed", steps: () => ["after"] },
  ],

  define(idem, kit) {
    const waitFor = (context: Context, timeout: number) =>
      kit.timed(
        context,
        "answer",
        timeout,
        () => context.step.waitForEvent("answer", { event: "waits/answer", match: "data.token", timeout }),
        (answer) => answer === null,
      );
    idem.createFunction({ id: "waiter" }, { event: "waits/go" }, async (context: Context) => {
      const { n, timeout } = context.event.data;
      const before = await kit.run(context, "waiter", "before");
      const answer = kit.handed(context, "answer", await waitFor(context, timeout));
      const after = await kit.run(context, "waiter", "after");
      return { n, answer, values: { before, after } };
    });
    idem.createFunction({ id: "racer" }, { event: "waits/race" }, async (context: Context) => {
      const { n, timeout } = context.event.data;
      const winner = await Promise.race([
        waitFor(context, timeout).then(() => "answer"),
        kit.sleep(context, "nap", 3_000).then(() => "nap"),
        kit.run(context, "racer", "work", { takesMs: 3_000 }).then(() => "work"),
      ]);
      // The race decides which branch goes on, so a replay that picks another winner asks for another step.
      const after = await kit.run(context, "racer", "after");
      await kit.run(context, "racer", `after-${winner}`);
      return { n, winner, values: { after } };
    });
  },

  closing: (n) => tokens.map((token) => ({ name: "waits/answer", id: null, data: { n, token } })),

  messages(random, n) {
    const token = random.pick(tokens);
    const id = random.chance(0.5) ? `waits-${n}` : null;
    if (random.chance(0.55)) return [{ name: "waits/answer", id, data: { n, token } }];
    const timeout = random.chance(0.6) ? 300_000 : random.int(2_000, 10_000);
    if (random.chance(0.4)) {
      const race = { name: "waits/race", id, data: { n, token, timeout: 8_000 } };
      // An answer that arrives a moment before its waiter does must not wake it.
      const tooEarly = { name: "waits/answer", id: id === null ? null : `${id}-early`, data: { n, token } };
      return random.chance(0.5) ? [tooEarly, race] : [race];
    }
    return [{ name: "waits/go", id, data: { n, token, timeout } }];
  },
};
