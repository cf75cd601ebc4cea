import { expect, test } from "vitest";
import type { Store } from "../../../store/store.ts";
import { testIdem } from "../../../testing/test-idem.ts";
import { routeWorld } from "../world.suite.ts";
import { sendSignal } from "./send-signal.ts";

test("a signal nobody waits for is answered 404, as the SDK expects", async () => {
  const made = await routeWorld();
  const { status, body } = await made.ask(sendSignal, { body: { signal: "go", data: { n: 1 } } });
  expect(status).toBe(404);
  expect(body).toEqual({ error: expect.stringContaining('"go"'), status: 404 });
});

test("a signal wakes the run that waits for it, with its data", async () => {
  const { idem, store, clock } = testIdem();
  idem.createFunction({ id: "fn" }, { event: "a/b" }, async ({ step }) =>
    step.waitForSignal("wait", { signal: "go", timeout: "1h" }),
  );
  await idem.start();
  const { decisions } = await idem.send({ name: "a/b" });
  await idem.idle();
  const made = await routeWorld({}, store as Store);
  const { status, body } = await made.ask(sendSignal, { body: { signal: "go", data: { n: 1 } } });
  expect(status).toBe(200);
  expect(body).toEqual({ data: { run_id: decisions[0]!.runId } });
  await clock.advance("1s");
  expect(await idem.runs.wait(decisions[0]!.runId!)).toMatchObject({ output: { signal: "go", data: { n: 1 } } });
  await idem.stop();
});

test.each([{}, { signal: "" }, { signal: 7 }, { signal: "x".repeat(1_025) }, [], "go"])(
  "%j is no signal",
  async (body) => {
    const made = await routeWorld();
    const error = await made.ask(sendSignal, { body: JSON.stringify(body) }).then(String, (caught) => caught);
    expect(error).toMatchObject({ code: "REQUEST_INVALID" });
  },
);
