// "Running Functions Safely More Than Once", the quiz: each answer, run.
import { deliverTwice } from "idem/testing";
import { expect, test } from "vitest";
import { openShop } from "./fakes/shop.ts";
import { Table } from "./fakes/table.ts";

function shopWithReceipts() {
  const shop = openShop();
  const { inngest, db, emailService } = shop;
  inngest.createFunction({ id: "send-receipt" }, { event: "payment/succeeded" }, async ({ event, step }) => {
    await step.run("send-email", async () => {
      await emailService.send({ to: event.data.email, template: "receipt", data: {} });
    });
    await step.run("record", async () => {
      await db.payments.create({ userId: event.data.userId, chargeId: event.data.chargeId, amount: 9900 });
    });
  });
  const paid = { name: "payment/succeeded", data: { userId: "usr_1", chargeId: "ch_1", email: "user@example.com" } };
  return { ...shop, paid };
}

test("1. The e-mail step succeeded and the next step fails: the retry does not send the e-mail again", async () => {
  const { inngest, clock, db, emailService, paid } = shopWithReceipts();
  await inngest.start();
  db.payments.failNextWrite("connection reset");
  const sent = await inngest.send(paid);
  await clock.advanceToEnd();
  expect(await inngest.runs.wait(sent.decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  expect(db.payments.rows).toHaveLength(1);
  expect(emailService.sent).toHaveLength(1);
});

test("1. The caveat: two runs of the same event send two e-mails", async () => {
  const { inngest, emailService, paid } = shopWithReceipts();
  await inngest.start();
  await deliverTwice(inngest, paid, { how: "again" });
  expect(emailService.sent).toHaveLength(2);
});

test.each(["again", "at-once"] as const)(
  "2. A Stripe webhook that fires twice (%s) is processed once, keyed on Stripe's event id",
  async (how) => {
    const { inngest } = openShop();
    const processed: string[] = [];
    inngest.createFunction(
      {
        id: "handle-stripe-payment",
        // Stripe's event ID is unique per event — perfect idempotency key
        idempotency: "event.data.stripeEventId",
      },
      { event: "stripe/payment.succeeded" },
      async ({ event, step }) => {
        await step.run("process", async () => {
          processed.push(event.data.stripeEventId);
        });
      },
    );
    await inngest.start();
    const { started, suppressed } = await deliverTwice(
      inngest,
      { name: "stripe/payment.succeeded", data: { stripeEventId: "evt_1NxYz" } },
      { how },
    );
    expect(processed).toEqual(["evt_1NxYz"]);
    expect(suppressed).toMatchObject([{ kind: "duplicate-key", runId: started[0] }]);

    await inngest.send({ name: "stripe/payment.succeeded", data: { stripeEventId: "evt_2NxYz" } });
    await inngest.idle();
    expect(processed).toEqual(["evt_1NxYz", "evt_2NxYz"]);
  },
);

test("3. Option A, insert: the second time throws on a unique column, and doubles the record without one", async () => {
  const userId = "usr_1";
  const email = "user@example.com";
  const { db } = openShop();
  const optionA = async () => {
    await db.users.insert({ id: userId, email, plan: "pro" });
  };
  await optionA();
  await optionA();
  expect(db.users.rows).toHaveLength(2);

  db.users = new Table({ unique: "id" });
  await optionA();
  await expect(optionA()).rejects.toThrow("unique constraint");
  expect(db.users.rows).toHaveLength(1);
});

test("3. Option B, upsert: the second time leaves one record in the same state but for updatedAt", async () => {
  const userId = "usr_1";
  const email = "user@example.com";
  const { db, clock } = openShop();
  const optionB = async () => {
    await db.users.upsert({ id: userId }, { email, plan: "pro", updatedAt: new Date().toISOString() });
  };
  await optionB();
  await clock.advance("1s");
  await optionB();
  expect(db.users.rows).toEqual([{ id: userId, email, plan: "pro", updatedAt: "2026-01-01T00:00:01.000Z" }]);
});
