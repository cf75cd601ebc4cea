import { describe, expect, test } from "vitest";
import { stores, testIdem } from "../testing/flow-stores.suite.ts";
import { held } from "../testing/one-run.suite.ts";
import { engineOf } from "../testing/one-store.suite.ts";

describe.each(stores)("pause on %s", (store) => {
  test("events for a paused function are kept with a decision that says so, and start nothing", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => "ran");
    await idem.start();
    const engine = await engineOf(idem);
    await engine.pause({ fn: "test-fn", paused: true, reason: "too many mails" });
    const sent = await idem.send({ name: "a/b" });
    expect(sent.decisions).toMatchObject([{ function: "fn", kind: "paused", runId: null }]);
    expect(await idem.events.get(sent.ids[0]!)).toMatchObject({ decisions: [{ kind: "paused" }] });
    await engine.pause({ fn: "test-fn", paused: false, reason: "" });
    expect((await idem.send({ name: "a/b" })).decisions).toMatchObject([{ kind: "started" }]);
  });

  test("a run that is open when its function is paused goes on to its end", async () => {
    const { idem } = testIdem({ store });
    const gate = held();
    idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) => {
      await step.run("slow", () => gate.promise);
      return step.run("after", () => "done");
    });
    await idem.start();
    const { runId } = (await idem.send({ name: "a/b" })).decisions[0]!;
    await (await engineOf(idem)).pause({ fn: "test-fn", paused: true, reason: "" });
    gate.release();
    expect(await idem.runs.wait(runId!)).toMatchObject({ state: "completed", output: "done" });
  });

  test("a function nobody registered cannot be paused", async () => {
    const { idem } = testIdem({ store });
    await expect((await engineOf(idem)).pause({ fn: "nobody", paused: true, reason: "" })).rejects.toMatchObject({
      code: "FUNCTION_UNKNOWN",
    });
  });
});

test("a pause holds for every process on the store, also one that looked before it", async () => {
  const world = testIdem();
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => null);
  await world.idem.start();
  const other = world.client();
  expect((await other.send({ name: "a/b" })).decisions).toMatchObject([{ kind: "started" }]);
  await (await engineOf(world.idem)).pause({ fn: "test-fn", paused: true, reason: "" });
  expect((await other.send({ name: "a/b" })).decisions).toMatchObject([{ kind: "paused" }]);
});
