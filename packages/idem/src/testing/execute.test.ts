import { expect, test } from "vitest";
import { Idem } from "../sdk/client.ts";
import { execute } from "./execute.ts";

function chargeAndThank() {
  const done: string[] = [];
  const idem = new Idem({ id: "shop", store: "memory:" });
  const fn = idem.createFunction({ id: "checkout", retries: 0 }, { event: "order/paid" }, async ({ step }) => {
    const charge = await step.run("charge-card", () => {
      done.push("really charged");
      return { id: "ch_1" };
    });
    await step.sendSignal("tell", { signal: "charged" });
    await step.sleep("a day", "1d");
    return charge;
  });
  return { fn, done };
}

test("a mocked step is answered by the test and does not run", async () => {
  const { fn, done } = chargeAndThank();
  const { output } = await execute(fn, { event: { data: {} }, steps: { "charge-card": { id: "fake" } } });
  expect(output).toEqual({ id: "fake" });
  expect(done).toEqual([]);
});

test("a step of every tool can be answered by the test", async () => {
  const { fn } = chargeAndThank();
  const { timeline } = await execute(fn, {
    event: {},
    steps: { "charge-card": 1, tell: { runId: "r" }, "a day": null },
  });
  expect(timeline.filter(({ kind }) => kind === "run").map(({ name }) => name)).toEqual([
    "charge-card",
    "tell",
    "a day",
  ]);
});

test("a mock that no step asked for is refused, with the step that was probably meant", async () => {
  const { fn } = chargeAndThank();
  const executed = execute(fn, { event: {}, steps: { "chrage-card": { id: "fake" }, tell: null } });
  await expect(executed).rejects.toMatchObject({
    code: "MOCK_UNUSED",
    message: expect.stringMatching(
      /no step of function "checkout" asked for the mock "chrage-card"; did you mean "charge-card"\?.*charge-card, tell, a day/s,
    ),
  });
});

test("a mock that no step asked for is refused with how the run ended, when it failed", async () => {
  const { fn } = chargeAndThank();
  const executed = execute(fn, {
    event: {},
    steps: {
      "charge-card": () => {
        throw new Error("declined");
      },
      mail: null,
      "a day": null,
    },
  });
  const refusal = await executed.catch((error) => error);
  expect(refusal.message).toContain('"mail", "a day"');
  expect(refusal.message).toContain("failed: declined");
});
