// "Running Functions Safely More Than Once", part 6: the consumer says what makes two events the same.
import { deliverTwice } from "idem/testing";
import { expect, test } from "vitest";
import { openShop } from "./fakes/shop.ts";

function shopWithCheckoutEmail() {
  const shop = openShop();
  const { inngest, emailService } = shop;
  const sendCheckoutEmail = inngest.createFunction(
    {
      id: "send-checkout-email",
      // This function will only run once per cartId per 24 hours
      // Even if "cart/checkout.completed" is fired 5 times for the same cart
      idempotency: "event.data.cartId",
    },
    { event: "cart/checkout.completed" },
    async ({ event, step }) => {
      await step.run("send-email", async () => {
        await emailService.sendOrderConfirmation({
          to: event.data.email,
          cartId: event.data.cartId,
        });
      });
    },
  );
  return { ...shop, sendCheckoutEmail };
}

test("five checkouts of one cart are one run and one e-mail; the other four name that run", async () => {
  const { inngest, emailService } = shopWithCheckoutEmail();
  await inngest.start();
  const decisions = [];
  for (let fired = 1; fired <= 5; fired++) {
    const sent = await inngest.send({
      name: "cart/checkout.completed",
      data: { cartId: "abc123", email: "user@example.com" },
    });
    decisions.push(...sent.decisions);
  }
  await inngest.idle();
  const [first, ...later] = decisions;
  expect(first).toMatchObject({ kind: "started", key: '"abc123"' });
  expect(later).toHaveLength(4);
  for (const decision of later) expect(decision).toMatchObject({ kind: "duplicate-key", runId: first!.runId });
  expect(emailService.sent).toHaveLength(1);

  await inngest.send({ name: "cart/checkout.completed", data: { cartId: "def456", email: "user@example.com" } });
  await inngest.idle();
  expect(emailService.sent).toHaveLength(2);
});

test("a function key is free again after 24 hours", async () => {
  const { inngest, clock, emailService } = shopWithCheckoutEmail();
  await inngest.start();
  const send = () =>
    inngest.send({ name: "cart/checkout.completed", data: { cartId: "abc123", email: "user@example.com" } });
  await send();
  await clock.advance("23h");
  expect((await send()).decisions[0]!.kind).toBe("duplicate-key");
  await clock.advance("2h");
  expect((await send()).decisions[0]!.kind).toBe("started");
  await inngest.idle();
  expect(emailService.sent).toHaveLength(2);
});

test("a function key's window ends by itself: a process that only sends, with nobody reaping, is told the same", async () => {
  const { inngest, clock } = shopWithCheckoutEmail();
  const send = async () =>
    (await inngest.send({ name: "cart/checkout.completed", data: { cartId: "abc123" } })).decisions[0]!.kind;
  expect([await send(), await send()]).toEqual(["started", "duplicate-key"]);
  await clock.advance("25h");
  expect(await send()).toBe("started");
});

test("a function key stops the duplicate for its own function only", async () => {
  const { inngest, emailService } = shopWithCheckoutEmail();
  let counted = 0;
  inngest.createFunction({ id: "count-checkouts" }, { event: "cart/checkout.completed" }, async () => {
    counted++;
  });
  await inngest.start();
  const { suppressed } = await deliverTwice(
    inngest,
    { name: "cart/checkout.completed", data: { cartId: "abc123", email: "user@example.com" } },
    { how: "again" },
  );
  expect(suppressed).toMatchObject([{ function: "send-checkout-email", kind: "duplicate-key" }]);
  expect(emailService.sent).toHaveLength(1);
  expect(counted).toBe(2);
});

test.each([
  ["usr_123", '"usr_123-pro"'],
  [123, '"123-pro"'],
])("userId + '-' + plan is one run per user and plan, for userId %j", async (userId, key) => {
  const { inngest } = openShop();
  inngest.createFunction(
    {
      id: "upgrade",
      // Only run once per userId + plan combination per 24 hours
      idempotency: "event.data.userId + '-' + event.data.plan",
    },
    { event: "subscription/upgraded" },
    async () => {},
  );
  await inngest.start();
  const upgrade = async (plan: string) =>
    (await inngest.send({ name: "subscription/upgraded", data: { userId, plan } })).decisions[0]!;
  const first = await upgrade("pro");
  expect(first).toMatchObject({ kind: "started", key });
  expect(await upgrade("pro")).toMatchObject({ kind: "duplicate-key", key, runId: first.runId });
  expect(await upgrade("team")).toMatchObject({ kind: "started" });
});

test("orderId + '-' + notificationType is one run per order and notification", async () => {
  const { inngest } = openShop();
  inngest.createFunction(
    {
      id: "notify",
      // Only run once per order + notification type per 24 hours
      idempotency: "event.data.orderId + '-' + event.data.notificationType",
    },
    { event: "order/notification.requested" },
    async () => {},
  );
  await inngest.start();
  const notify = async (orderId: string, notificationType: string) =>
    (await inngest.send({ name: "order/notification.requested", data: { orderId, notificationType } })).decisions[0]!;
  expect(await notify("ord_456", "shipping-update")).toMatchObject({
    kind: "started",
    key: '"ord_456-shipping-update"',
  });
  expect(await notify("ord_456", "shipping-update")).toMatchObject({ kind: "duplicate-key" });
  expect(await notify("ord_456", "delivered")).toMatchObject({ kind: "started" });
  expect(await notify("ord_457", "shipping-update")).toMatchObject({ kind: "started" });
});

test("belt and suspenders: the event id stops the first duplicate, the function key one sent without the id", async () => {
  const { inngest } = openShop();
  let sentCount = 0;
  inngest.createFunction(
    {
      id: "send-confirmation-email",
      idempotency: "event.data.cartId", // additional protection
    },
    { event: "cart/checkout.completed" },
    async ({ step }) => {
      await step.run("send", async () => {
        sentCount++;
      });
    },
  );
  await inngest.start();
  const cartId = "abc123";
  const email = "user@example.com";
  const produce = () =>
    inngest.send({
      id: `checkout-completed-${cartId}`,
      name: "cart/checkout.completed",
      data: { cartId, email },
    });
  const [first, second] = [await produce(), await produce()];
  const third = await inngest.send({ name: "cart/checkout.completed", data: { cartId, email } });
  await inngest.idle();
  const { runId } = first.decisions[0]!;
  expect(second.decisions).toMatchObject([{ kind: "duplicate-event", runId }]);
  expect(third.decisions).toMatchObject([{ kind: "duplicate-key", runId }]);
  expect(sentCount).toBe(1);
});

test("a key names what took it: explain tells the run, how often it was asked for, and when it is free", async () => {
  const { inngest, clock } = shopWithCheckoutEmail();
  await inngest.start();
  const takenAt = clock.now();
  const { started } = await deliverTwice(
    inngest,
    { name: "cart/checkout.completed", data: { cartId: "abc123", email: "user@example.com" } },
    { how: "at-once" },
  );
  const story = await inngest.explain({ function: "send-checkout-email", key: "abc123" });
  expect(story).toMatchObject({ isOpen: true, windowEndsAt: takenAt + 24 * 60 * 60 * 1000 });
  expect(story.holder!.id).toBe(started[0]);
  expect(story.spared).toHaveLength(1);
});
