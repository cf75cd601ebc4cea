import { expect, test } from "vitest";
import { testIdem } from "../testing.ts";

test("the seeds' timeline: t=0h starts, t=0h again is suppressed, t=25h starts again", async () => {
  const { idem, clock } = testIdem();
  const charged: string[] = [];
  idem.createFunction({ id: "confirm" }, { event: "cart/checkout.completed" }, async ({ event, step }) => {
    await step.run("charge", ({ key }) => charged.push(key));
    return event.data.cartId;
  });
  await idem.start();
  const send = () =>
    idem.send({ id: "checkout-completed-abc123", name: "cart/checkout.completed", data: { cartId: "abc123" } });
  const first = await send();
  const second = await send();
  expect(second.decisions[0]).toMatchObject({ kind: "duplicate-event", runId: first.decisions[0]!.runId });
  await clock.advance("25h");
  const third = await send();
  expect(third.decisions[0]).toMatchObject({ kind: "started" });
  await idem.idle();
  expect(charged).toHaveLength(2);
  expect(new Set(charged).size).toBe(2);
  await idem.stop();
});
