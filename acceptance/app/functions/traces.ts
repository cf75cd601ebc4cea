// The functions behind the traces (docs/reference/wire.md#traces).
import { NonRetriableError } from "inngest";
import { note, released, told } from "../say.ts";
import type { AppParts } from "./define.ts";

export function traces({ define }: AppParts): any[] {
  const child = define("child", { triggers: [] }, ({ event }) => event.data.n * 2);
  const childbad = define("childbad", { triggers: [], retries: 0 }, () => {
    throw new NonRetriableError("childbad");
  });
  return [
    child,
    childbad,
    define("sequential", {}, async (run) => {
      const a = await told(run, "a", () => 1);
      const b = await told(run, "b", () => a + 1);
      return { sum: a + b };
    }),
    define("parallel", {}, async (run) => {
      await told(run, "pre", () => "pre");
      const all = await Promise.all(["p1", "p2", "p3"].map((id) => told(run, id, () => id)));
      await told(run, "post", () => "post");
      await told(run, "post2", () => "post2");
      return all;
    }),
    define("sleep", {}, async (run) => {
      await told(run, "a", () => "a");
      await run.step.sleep("nap", "1s");
      return told(run, "b", () => "b");
    }),
    define("mixed", {}, async (run) => {
      const [m1, , waited] = await Promise.all([
        told(run, "m1", () => "m1"),
        run.step.sleep("ms", "1s"),
        run.step.waitForEvent("mw", { event: "nobody/sends", timeout: "1s" }),
      ]);
      const m1b = await told(run, "m1b", () => "m1b");
      return [m1, waited, m1b];
    }),
    define("invoke", {}, async ({ step }) => {
      const i = await step.invoke("i", { function: child, data: { n: 21 } });
      const j = await step.invoke("j", { function: childbad, data: {} }).catch((error: Error) => error.message);
      return [i, j];
    }),
    define("retries", { retries: 3 }, async (run) => {
      await told(run, "flaky", () => {
        if (run.attempt < 2) throw new Error(`not yet, ${run.attempt}`);
        return "flaky";
      });
      if (run.attempt === 0) throw new Error("between steps");
      return "done";
    }),
    define(
      "fail",
      {
        retries: 1,
        onFailure: ({ error, event, runId }: any) =>
          note({ fn: "fail-failure", runId }, `${event.data.run_id} ${error.message} ${event.data.event.data.n}`),
      },
      async (run) => {
        await told(run, "boom", () => {
          throw new Error("kaput");
        });
      },
    ),
    define("race", {}, (run) =>
      run.group.parallel({ mode: "race" }, () =>
        Promise.race([
          told(run, "fast", () => "fast"),
          told(run, "slow", async () => {
            await released(run.runId);
            return "slow";
          }),
        ]),
      ),
    ),
    // Long enough to pass a maximal run time of 200 ms in the second step, and nowhere near one of 10 s.
    define("lengthy", {}, async (run) => {
      const took = [];
      for (const id of ["l1", "l2", "l3", "l4"]) {
        took.push(await told(run, id, () => new Promise((resolve) => setTimeout(() => resolve(id), 150))));
      }
      return took;
    }),
  ];
}
