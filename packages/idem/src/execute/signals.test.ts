import { describe, expect, test } from "vitest";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("signals on %s", (store) => {
  test("a signal wakes the one run that waits for it, with its data", async () => {
    const run = await oneRun(async ({ step }) => step.waitForSignal("go", { signal: "door-1", timeout: "1d" }), {
      store,
    });
    await run.idem.idle();
    expect(await run.idem.sendSignal({ signal: "door-2", data: 1 })).toEqual({ runId: null });
    expect(await run.idem.sendSignal({ signal: "door-1", data: { open: true } })).toEqual({ runId: run.runId });
    expect((await run.idem.runs.wait(run.runId)).output).toEqual({ signal: "door-1", data: { open: true } });
    expect(await run.idem.sendSignal({ signal: "door-1" })).toEqual({ runId: null });
  });

  test("a signal without data is told apart from a timeout", async () => {
    const run = await oneRun(
      async ({ step }) => [
        await step.waitForSignal("first", { signal: "s", timeout: "1h" }),
        await step.waitForSignal("second", { signal: "s", timeout: "1h" }),
      ],
      { store },
    );
    await run.idem.idle();
    await run.idem.sendSignal({ signal: "s" });
    expect((await run.end()).output).toEqual([{ signal: "s", data: null }, null]);
  });

  test("a signal sent before anyone waits is answered with nobody and not kept", async () => {
    const run = await oneRun(
      async ({ step }) => {
        await step.sleep("nap", "1h");
        return step.waitForSignal("go", { signal: "s", timeout: "1h" });
      },
      { store },
    );
    await run.idem.idle();
    expect(await run.idem.sendSignal({ signal: "s" })).toEqual({ runId: null });
    expect((await run.end()).output).toBeNull();
  });

  test("the second waiter fails by default, and takes the signal over with onConflict replace", async () => {
    const { idem, clock } = testIdem({ store });
    idem.createFunction({ id: "one" }, { event: "test/go" }, async ({ event, step }) =>
      step.waitForSignal("go", { signal: "s", timeout: "1h", onConflict: event.data.onConflict }),
    );
    await idem.start();
    const start = async (onConflict: string) =>
      (await idem.send({ name: "test/go", data: { onConflict } })).decisions[0]!.runId!;
    const first = await start("fail");
    await idem.idle();
    const second = await start("fail");
    expect(await idem.runs.wait(second)).toMatchObject({ state: "failed", error: { code: "SIGNAL_TAKEN" } });
    const third = await start("replace");
    await idem.idle();
    expect(await idem.sendSignal({ signal: "s", data: 3 })).toEqual({ runId: third });
    expect((await idem.runs.wait(third)).output).toEqual({ signal: "s", data: 3 });
    await clock.advanceToEnd();
    expect(await idem.runs.wait(first)).toMatchObject({ state: "completed", output: null });
  });

  test("a step sends a signal once, and learns who heard it", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "waits" }, { event: "test/wait" }, async ({ step }) =>
      step.waitForSignal("go", { signal: "s", timeout: "1h" }),
    );
    idem.createFunction({ id: "sends" }, { event: "test/send" }, async ({ step }) => [
      await step.sendSignal("first", { signal: "s", data: "hello" }),
      await step.sendSignal("second", { signal: "s" }),
    ]);
    await idem.start();
    const waits = (await idem.send({ name: "test/wait" })).decisions[0]!.runId!;
    await idem.idle();
    const sends = (await idem.send({ name: "test/send" })).decisions[0]!.runId!;
    expect((await idem.runs.wait(sends)).output).toEqual([{ runId: waits }, { runId: null }]);
    expect((await idem.runs.wait(waits)).output).toEqual({ signal: "s", data: "hello" });
  });
});

test("a signal without a name is refused, by client and by step", async () => {
  const { idem } = testIdem();
  for (const options of [undefined, {}, { signal: "" }, { signal: 7 }]) {
    await expect(idem.sendSignal(options as any)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    for (const tool of ["waitForSignal", "sendSignal"] as const) {
      const run = await oneRun(async ({ step }) => step[tool]("s", options as any));
      expect(await run.end()).toMatchObject({ state: "failed", error: { code: "STEP_INVALID" } });
    }
  }
});
