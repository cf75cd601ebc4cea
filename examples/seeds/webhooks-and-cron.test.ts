// "Idempotency" for solo founders: webhook receivers, scheduled work and the four patterns, as far as events reach.
import { deliverTwice } from "idem/testing";
import { expect, test } from "vitest";
import { openShop } from "./fakes/shop.ts";

interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly object: { readonly id: string } };
}

function shopWithWebhooks() {
  const shop = openShop();
  const { inngest } = shop;
  const processed: string[] = [];
  inngest.createFunction({ id: "record-payment" }, { event: "stripe/invoice.paid" }, async ({ event, step }) => {
    await step.run("record", async () => {
      processed.push(event.data.object.id);
    });
  });
  // The event id is the row of processed_webhook_events: taken with the work it opens, in one commit.
  const receive = (evt: StripeEvent) => inngest.send({ id: evt.id, name: `stripe/${evt.type}`, data: evt.data });
  return { ...shop, processed, receive };
}

test("a webhook event id is processed once, however often the provider delivers it", async () => {
  const { inngest, clock, processed, receive } = shopWithWebhooks();
  await inngest.start();
  const evt: StripeEvent = { id: "evt_1NxYz", type: "invoice.paid", data: { object: { id: "in_1" } } };
  const first = await receive(evt);
  for (const pause of ["1s", "1m", "1h", "20h"]) {
    await clock.advance(pause);
    const again = await receive(evt);
    expect(again.decisions).toMatchObject([{ kind: "duplicate-event", runId: first.decisions[0]!.runId }]);
  }
  await inngest.idle();
  expect(processed).toEqual(["in_1"]);

  await receive({ ...evt, id: "evt_2NxYz", data: { object: { id: "in_2" } } });
  await inngest.idle();
  expect(processed).toEqual(["in_1", "in_2"]);
});

test("a handler that fails after its first delivery is not lost to the duplicate check: the run itself retries", async () => {
  const { inngest, clock } = openShop();
  const processed: string[] = [];
  inngest.createFunction({ id: "record-payment" }, { event: "stripe/invoice.paid" }, async ({ event, step }) => {
    await step.run("record", async ({ attempt }) => {
      if (attempt === 1) throw new Error("deadlock detected");
      processed.push(event.data.object.id);
    });
  });
  await inngest.start();
  const event = { id: "evt_1NxYz", name: "stripe/invoice.paid", data: { object: { id: "in_1" } } };
  await deliverTwice(inngest, event, { how: "again" });
  expect(processed).toEqual([]);
  await clock.advanceToEnd();
  expect(processed).toEqual(["in_1"]);
});

test("a provider that delivers again for days needs a window as long: 72 hours later is still a duplicate", async () => {
  const { inngest, clock } = openShop();
  inngest.createFunction({ id: "record-payment" }, { event: "stripe/invoice.paid" }, async () => {});
  await inngest.start();
  const receive = async () =>
    (await inngest.send({ id: "evt_1NxYz", name: "stripe/invoice.paid", data: {} }, { window: "5d" })).decisions[0]!;
  expect(await receive()).toMatchObject({ kind: "started" });
  await clock.advance("3d");
  expect(await receive()).toMatchObject({ kind: "duplicate-event" });
});

test("the daily digest of one date is sent once although its cron invokes it twice; the next date is sent", async () => {
  const { inngest, clock, emailService } = openShop();
  inngest.createFunction({ id: "daily-digest" }, { event: "digest/due" }, async ({ event, step }) => {
    await step.run("send", () =>
      emailService.send({ to: "user@example.com", template: "daily-digest", data: { date: event.data.date } }),
    );
  });
  await inngest.start();
  const invoke = async (date: string) =>
    (await inngest.send({ id: `daily-digest-${date}`, name: "digest/due", data: { date } })).decisions[0]!.kind;
  expect(await invoke("2026-05-08")).toBe("started");
  await clock.advance("4m");
  expect(await invoke("2026-05-08")).toBe("duplicate-event");
  await clock.advance("24h");
  expect(await invoke("2026-05-09")).toBe("started");
  await inngest.idle();
  expect(emailService.sent).toHaveLength(2);
});

test("a digest that dies half-way goes on from its memo instead of starting from scratch", async () => {
  const { inngest, clock, emailService } = openShop();
  const users = ["usr_1", "usr_2", "usr_3"];
  inngest.createFunction({ id: "daily-digest" }, { event: "digest/due" }, async ({ event, step }) => {
    for (const user of users) {
      await step.run(`send-${user}`, async ({ attempt }) => {
        if (user === "usr_2" && attempt === 1) throw new Error("timed out");
        await emailService.send({ to: user, template: "daily-digest", data: { date: event.data.date } });
      });
    }
  });
  await inngest.start();
  await inngest.send({ id: "daily-digest-2026-05-08", name: "digest/due", data: { date: "2026-05-08" } });
  await inngest.idle();
  expect(emailService.sent).toHaveLength(1);
  await clock.advanceToEnd();
  expect(emailService.sent.map(({ data }) => data)).toMatchObject(users.map((to) => ({ to })));
});

test("the run id as Stripe's key holds on retries but not in a rerun; the step's own key holds in both", async () => {
  const { inngest, clock, stripe } = openShop();
  inngest.createFunction({ id: "charge" }, { event: "payment/requested" }, async ({ step, runId }) => {
    const intent = { amount: 9900, currency: "usd", customer: "cus_1" };
    await step.run("by-run-id", () => stripe.paymentIntents.create(intent, { idempotencyKey: runId }));
    const subscription = { customer: "cus_1", items: [{ price: "price_pro" }] };
    await step.run("by-step-key", ({ key }) => stripe.subscriptions.create(subscription, { idempotencyKey: key }));
  });
  await inngest.start();
  stripe.paymentIntents.loseNextAnswer();
  stripe.subscriptions.loseNextAnswer();
  const sent = await inngest.send({ name: "payment/requested", data: {} });
  await clock.advanceToEnd();
  expect(stripe.paymentIntents.all).toHaveLength(1);
  expect(stripe.subscriptions.all).toHaveLength(1);

  await inngest.runs.wait((await inngest.runs.rerun(sent.decisions[0]!.runId!)).runId);
  expect(stripe.paymentIntents.all).toHaveLength(2);
  expect(stripe.subscriptions.all).toHaveLength(1);
});

test("upsert: a sync delivered twice converges to the same row without any key", async () => {
  const { inngest, db } = openShop();
  inngest.createFunction({ id: "sync-user" }, { event: "crm/user.changed" }, async ({ event, step }) => {
    await step.run("upsert", () => db.users.upsert({ id: event.data.id }, { email: event.data.email }));
  });
  await inngest.start();
  const { started } = await deliverTwice(
    inngest,
    { name: "crm/user.changed", data: { id: "usr_1", email: "user@example.com" } },
    { how: "at-once" },
  );
  expect(started).toHaveLength(2);
  expect(db.users.rows).toEqual([{ id: "usr_1", email: "user@example.com" }]);
});

test("lock and check: of two transitions asked for at once one happens, without a lock in the code", async () => {
  const { inngest } = openShop();
  const transitions: string[] = [];
  let state = "placed";
  inngest.createFunction(
    { id: "ship-order", idempotency: "event.data.orderId" },
    { event: "order/ship.requested" },
    async ({ event, step }) => {
      const found = await step.run("check", () => state);
      if (found !== "placed") return;
      await step.run("ship", async () => {
        state = "shipped";
        transitions.push(event.data.orderId);
      });
    },
  );
  await inngest.start();
  const { started } = await deliverTwice(
    inngest,
    { name: "order/ship.requested", data: { orderId: "ord_1" } },
    { how: "at-once" },
  );
  expect(started).toHaveLength(1);
  expect(transitions).toEqual(["ord_1"]);
});

test("key table: the second asker receives the first one's outcome, not an error and not a second effect", async () => {
  const { inngest, stripe } = openShop();
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.requestKey" },
    { event: "payment/requested" },
    async ({ event, step }) =>
      step.run("charge", () =>
        stripe.charges.create({ amount: event.data.amount, currency: "usd", source: "tok_visa" }),
      ),
  );
  await inngest.start();
  const ask = async () => {
    const sent = await inngest.send({ name: "payment/requested", data: { requestKey: "7e3a8c2d", amount: 9900 } });
    return (await inngest.runs.wait(sent.decisions[0]!.runId!)).output;
  };
  const first = await ask();
  expect(first).toMatchObject({ id: "ch_1", amount: 9900 });
  expect(await ask()).toEqual(first);
  expect(stripe.charges.all).toHaveLength(1);
});

test("outbox: an event sent by a step is dispatched once, on retry of a later step and in a rerun", async () => {
  const { inngest, clock, db, emailService } = openShop();
  inngest.createFunction({ id: "place-order" }, { event: "order/placed" }, async ({ event, step }) => {
    await step.sendEvent("dispatch", { name: "order/confirmation.due", data: { orderId: event.data.orderId } });
    await step.run("record", () => db.payments.create({ userId: "usr_1", chargeId: event.data.orderId, amount: 1 }));
  });
  inngest.createFunction({ id: "confirm-order" }, { event: "order/confirmation.due" }, async ({ event, step }) => {
    await step.run("send", () =>
      emailService.send({ to: "user@example.com", template: "confirmation", data: event.data }),
    );
  });
  await inngest.start();
  db.payments.failNextWrite("connection reset");
  const sent = await inngest.send({ name: "order/placed", data: { orderId: "ord_1" } });
  await clock.advanceToEnd();
  expect(await inngest.runs.wait(sent.decisions[0]!.runId!)).toMatchObject({ state: "completed" });
  expect(emailService.sent).toHaveLength(1);

  await inngest.runs.wait((await inngest.runs.rerun(sent.decisions[0]!.runId!)).runId);
  await inngest.idle();
  expect(emailService.sent).toHaveLength(1);
  const [second, first] = await inngest.events.list({ name: "order/confirmation.due" });
  expect(second.duplicateOf).toBe(first.internalId);
});
