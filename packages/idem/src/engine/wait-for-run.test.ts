import { describe, expect, onTestFinished, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { Idem } from "../sdk/client.ts";
import { oneRun, stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

describe.each(stores)("runs.wait on %s", (store) => {
  test("with a timeout ends with a code of its own when the time is over, and the run goes on", async () => {
    const { idem, runId, clock, end } = await oneRun(({ step }) => step.sleep("nap", "1h"), { store });
    const waiting = idem.runs.wait(runId, { timeout: "30s" });
    const told = expect(waiting).rejects.toMatchObject({ code: "RUN_WAIT_TIMED_OUT", retry: "later" });
    await clock.advance("30s");
    await told;
    expect(await idem.runs.get(runId)).toMatchObject({ state: "waiting" });
    const again = idem.runs.wait(runId, { timeout: "2h" });
    expect(await end()).toMatchObject({ state: "completed" });
    expect(await again).toMatchObject({ state: "completed" });
    await expect(idem.runs.wait(runId, { timeout: "soon" })).rejects.toMatchObject({ code: "DURATION_INVALID" });
  });

  test("of a process that was never started says so, and what to do, once nobody turned up", async () => {
    const platform = new ManualPlatform();
    const idem = new Idem({ id: "shop", store, logger: false, platform });
    onTestFinished(() => idem.stop());
    idem.createFunction({ id: "pay" }, { event: "go" }, () => "paid");
    const runId = (await idem.send({ name: "go", data: {} })).decisions[0]!.runId!;
    const told = expect(idem.runs.wait(runId)).rejects.toMatchObject({ code: "RUN_UNATTENDED", retry: "after-fix" });
    await platform.advance(3_000, async () => {
      for (let i = 0; i < 20; i++) await new Promise<void>((resolve) => platform.soon(resolve));
    });
    await told;
    // An accepted run waits for the start.
    const waiting = idem.runs.wait(runId);
    await idem.start();
    expect(await waiting).toMatchObject({ state: "completed", output: "paid" });
  });
});

test("a client that was not started waits for what another client of the store executes, and hears of what ended", async () => {
  const { idem, client, clock } = testIdem();
  idem.createFunction({ id: "nap" }, { event: "go" }, ({ step }) => step.sleep("nap", "1m"));
  await idem.start();
  onTestFinished(() => idem.stop());
  const runId = (await idem.send({ name: "go", data: {} })).decisions[0]!.runId!;
  const idle = client();
  const waiting = idle.runs.wait(runId);
  await clock.advance("2m");
  expect(await waiting).toMatchObject({ state: "completed" });
  expect(await idle.runs.wait(runId)).toMatchObject({ state: "completed" });
});
