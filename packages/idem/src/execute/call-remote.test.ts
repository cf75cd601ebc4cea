// The real SDK (inngest 4) as the app: what it reports becomes steps, waits and ends.
import { NonRetriableError, RetryAfterError } from "inngest";
import { afterEach, describe, expect, test } from "vitest";
import { held } from "../testing/one-run.suite.ts";
import { sdkApp as appOf, noted, stopApps } from "./sdk-app.suite.ts";

afterEach(stopApps);

const variants = [
  ["with checkpoints", {}],
  ["without checkpoints", { checkpointing: false }],
  ["with buffered checkpoints", { checkpointing: { bufferedSteps: 3 } }],
  ["with a short run time", { checkpointing: { maxRuntime: "200ms" } }],
] as const;

describe.each(variants)("an app of the SDK %s", (name, options) => {
  test("runs each step once and ends with what the function returned", async () => {
    const { end, calls, checkpoints, log } = await appOf(
      (inngest, log) => [
        inngest.createFunction({ id: "seq", triggers: [{ event: "go" }] }, async ({ step }) => {
          const a = await step.run("a", () => noted(log, "a", 1));
          const b = await step.run("b", () => noted(log, "b", a + 1));
          return { sum: a + b };
        }),
      ],
      options,
    );
    expect(await end("go")).toMatchObject({ state: "completed", output: { sum: 3 } });
    expect(log).toEqual(["a", "b"]);
    if (name === "with checkpoints") {
      expect(calls.map(({ ops }) => ops)).toEqual([["RunComplete"]]);
      expect(checkpoints).toEqual(["a", "b"]);
    }
  });

  test("keeps the arguments each step was given, alone or side by side, done or failed", async () => {
    const { send, runs, store } = await appOf(
      (inngest) => [
        inngest.createFunction({ id: "given", retries: 0, triggers: [{ event: "go" }] }, async ({ step }) => {
          await step.run("closure", () => 1);
          await step.run("alone", (n: number) => n, 7);
          await Promise.all(["l", "r"].map((id) => step.run(id, (side: string) => side, id)));
          await step.run("broken", (n: number) => Promise.reject(new Error(`no ${n}`)), 8).catch(() => {});
          await step.sleep("rest", 1);
        }),
      ],
      options,
    );
    const runId = await send("go");
    await runs.wait(runId);
    const { steps } = (await store.reads.runMemo("default", runId))!;
    const given = new Map(
      (await store.reads.stepInputs("default", runId, 1_000)).map(({ stepId, input }) => [stepId, input]),
    );
    const inputs = Object.fromEntries(steps.map(({ stepId, name }) => [name, given.get(stepId) ?? null]));
    expect(inputs).toMatchObject({ closure: null, alone: "[7]", l: '["l"]', r: '["r"]', broken: "[8]" });
    expect(inputs.rest).toMatch(/^\{"until":"20/);
  });

  test("an attempt that failed took as long as its code did, alone or side by side", async () => {
    const slowly = async () => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      throw new Error("the shop answered 503");
    };
    const { send, runs, store } = await appOf(
      (inngest) => [
        inngest.createFunction({ id: "slow", retries: 0, triggers: [{ event: "go" }] }, async ({ step }) => {
          await step.run("before", () => 1);
          await step.run("alone", slowly).catch(() => {});
          await Promise.all(["l", "r"].map((id) => step.run(id, slowly).catch(() => {})));
        }),
      ],
      options,
    );
    const runId = await send("go");
    await runs.wait(runId);
    const { steps } = (await store.reads.runMemo("default", runId))!;
    // A timer may fire a millisecond early by the clock that is read here.
    const tooShort = steps.filter(({ name, startedAt, endedAt }) => name !== "before" && endedAt - startedAt < 28);
    expect(tooShort).toEqual([]);
    expect(steps.map(({ name }) => name).sort()).toEqual(["alone", "before", "l", "r"]);
  });

  test("runs parallel steps side by side and goes on once", async () => {
    const { end, calls, log } = await appOf(
      (inngest, log) => [
        inngest.createFunction({ id: "par", triggers: [{ event: "go" }] }, async ({ step }) => {
          await step.run("pre", () => log.push("pre"));
          const all = await Promise.all(["p1", "p2", "p3"].map((id) => step.run(id, () => noted(log, id, id))));
          await step.run("post", () => log.push("post"));
          return all;
        }),
      ],
      options,
    );
    expect(await end("go")).toMatchObject({ state: "completed", output: ["p1", "p2", "p3"] });
    expect(log.toSorted()).toEqual(["p1", "p2", "p3", "post", "pre"]);
    const alone = calls.filter(({ stepId }) => stepId === "one");
    expect(alone.map(({ ops }) => ops).sort()).toEqual([["StepRun p1"], ["StepRun p2"], ["StepRun p3"]]);
  });

  test("sleeps, waits and invokes beside each other, and asks the code once when all are over", async () => {
    const { end, calls, log } = await appOf((inngest, log) => {
      const child = inngest.createFunction({ id: "child", triggers: [] }, async ({ event }: any) => event.data.n * 2);
      const bad = inngest.createFunction({ id: "bad", triggers: [], retries: 0 }, async () => {
        throw new NonRetriableError("childbad");
      });
      const fn = inngest.createFunction({ id: "mixed", triggers: [{ event: "go" }] }, async ({ step }) => {
        const [m, , w, i] = await Promise.all([
          step.run("m1", () => noted(log, "m1", "m")),
          step.sleep("ms", "1s"),
          step.waitForEvent("mw", { event: "never", timeout: "2s" }),
          step.invoke("i", { function: child, data: { n: 21 } }),
        ]);
        const caught = await step.invoke("j", { function: bad, data: {} }).catch((error: Error) => error.message);
        return [m, w, i, caught];
      });
      return [fn, child, bad];
    }, options);
    expect(await end("go")).toMatchObject({ state: "completed", output: ["m", null, 42, "childbad"] });
    expect(log).toEqual(["m1"]);
    const own = calls.filter(({ ops }) => ops.some((op) => / (m1|ms|mw|i|j)$/.test(op)) || ops.includes("RunComplete"));
    expect(own[0]!.ops.toSorted()).toEqual(["InvokeFunction i", "Sleep ms", "StepPlanned m1", "WaitForEvent mw"]);
    // Not once more for each of them.
    expect(calls.filter(({ ops }) => ops.some((op) => op === "Sleep ms"))).toHaveLength(1);
  });

  test("tries a failing step again with its own count, then the code between steps with its own", async () => {
    const seen: number[] = [];
    const { end, log } = await appOf((inngest, log) => {
      let stepFailures = 2;
      let codeFailures = 1;
      return [
        inngest.createFunction(
          { id: "retries", triggers: [{ event: "go" }], retries: 3 },
          async ({ step, attempt }) => {
            await step.run("flaky", () => {
              seen.push(attempt);
              if (stepFailures-- > 0) throw new Error("not yet");
              log.push("flaky");
            });
            if (codeFailures-- > 0) throw new Error("code");
            return "done";
          },
        ),
      ];
    }, options);
    expect(await end("go")).toMatchObject({ state: "completed", output: "done" });
    expect(log).toEqual(["flaky"]);
    expect(seen).toEqual([0, 1, 2]);
  });

  test("a step that failed for good is thrown into the code; uncaught it fails the run, and onFailure runs", async () => {
    const { end, log, runs, engine } = await appOf(
      (inngest, log) => [
        inngest.createFunction(
          {
            id: "fails",
            triggers: [{ event: "go" }],
            retries: 1,
            onFailure: async ({ error, event }: any) => {
              log.push(`failed ${error.message} ${event.data.event.data.n}`);
            },
          },
          async ({ step }) => {
            await step.run("boom", () => {
              log.push("boom");
              throw new Error("kaput");
            });
          },
        ),
      ],
      options,
    );
    const ended = await end("go", { n: 7 });
    expect(ended.state).toBe("failed");
    expect(ended.error).toMatchObject({ message: "kaput" });
    const [companion] = (await runs.list({})).filter(({ function: fn }) => fn.endsWith("-failure"));
    await runs.wait(companion!.id);
    expect(log).toEqual(["boom", "boom", "failed kaput 7"]);
    expect(engine.worker.counts.fenced).toBe(0);
  });

  test("NonRetriableError ends a step at once, RetryAfterError says when", async () => {
    const { end, log } = await appOf(
      (inngest, log) => [
        inngest.createFunction({ id: "final", triggers: [{ event: "go" }], retries: 5 }, async ({ step }) => {
          const caught = await step
            .run("never", () => {
              log.push("never");
              throw new NonRetriableError("no");
            })
            .catch((error: Error) => error.message);
          let first = true;
          await step.run("later", () => {
            log.push("later");
            if (log.filter((each) => each === "later").length === 1) throw new RetryAfterError("busy", "1s");
            first = false;
          });
          return [caught, first];
        }),
      ],
      options,
    );
    expect(await end("go")).toMatchObject({ state: "completed", output: ["no", expect.anything()] });
    expect(log).toEqual(["never", "later", "later"]);
  });

  test("a waiting run is woken by the event it waits for, and by no other", async () => {
    const { engine, send, runs } = await appOf(
      (inngest) => [
        inngest.createFunction({ id: "waits", triggers: [{ event: "go" }] }, async ({ step }) => {
          const approved = await step.waitForEvent("w", {
            event: "approve",
            timeout: "1h",
            if: "event.data.id == async.data.id",
          });
          return approved?.data.by;
        }),
      ],
      options,
    );
    const runId = await send("go", { id: 7 });
    await engine.worker.idle();
    await engine.accept([{ name: "approve", data: { id: 8, by: "eve" } }], 86_400_000, []);
    await engine.accept([{ name: "approve", data: { id: 7, by: "ada" } }], 86_400_000, []);
    expect(await runs.wait(runId)).toMatchObject({ state: "completed", output: "ada" });
  });

  test("in a race the first one wins, whatever the others still do", async () => {
    const won = held();
    const { end, log } = await appOf(
      (inngest, log) => [
        inngest.createFunction({ id: "race", triggers: [{ event: "go" }] }, async ({ step, group }: any) => {
          const winner = await group.parallel({ mode: "race" }, () =>
            Promise.race([
              step.run("fast", () => noted(log, "fast", "fast")),
              step.run("slow", async () => {
                await won.promise;
                log.push("slow");
                return "slow";
              }),
            ]),
          );
          won.release();
          return winner;
        }),
      ],
      options,
    );
    expect(await end("go")).toMatchObject({ state: "completed", output: "fast" });
    await expect.poll(() => log).toEqual(["fast", "slow"]);
  });
});
