// "Running Functions Safely More Than Once", parts 1 to 4: the memo, and code that is safe to repeat.
import { expect, test, vi } from "vitest";
import { openDb } from "./fakes/db.ts";
import { openShop } from "./fakes/shop.ts";

test("createSubscription run twice accumulates two records, ensureSubscription converges to one", async () => {
  const db = openDb(() => 0);

  async function createSubscription(userId: string, plan: string) {
    return await db.subscriptions.insert({ userId, plan, status: "active" });
  }
  await createSubscription("usr_1", "pro");
  await createSubscription("usr_1", "pro");
  expect(db.subscriptions.rows).toHaveLength(2);

  async function ensureSubscription(userId: string, plan: string) {
    return await db.subscriptions.upsert(
      { userId }, // find by this
      { userId, plan, status: "active" }, // insert or update with this
    );
  }
  await ensureSubscription("usr_2", "pro");
  await ensureSubscription("usr_2", "pro");
  expect(db.subscriptions.rows.filter(({ userId }) => userId === "usr_2")).toHaveLength(1);
});

function shopWithPayments() {
  const shop = openShop();
  const { inngest, stripe, db } = shop;
  const processPayment = inngest.createFunction(
    { id: "process-payment", retries: 3 },
    { event: "payment/requested" },
    async ({ event, step }) => {
      // Step 1: Charge the card
      const charge = await step.run("charge-card", async () => {
        return await stripe.charges.create({
          amount: event.data.amountCents,
          currency: "usd",
          source: event.data.paymentToken,
        });
      });

      // Step 2: Record the charge
      await step.run("record-charge", async () => {
        await db.payments.create({
          userId: event.data.userId,
          chargeId: charge.id,
          amount: event.data.amountCents,
        });
      });
    },
  );
  const request = {
    name: "payment/requested",
    data: { userId: "usr_1", amountCents: 9900, paymentToken: "tok_visa" },
  };
  return { ...shop, processPayment, request };
}

test("a retry after record-charge failed does not charge the card again", async () => {
  const { inngest, clock, stripe, db, request } = shopWithPayments();
  await inngest.start();
  db.payments.failNextWrite("connection reset");
  const sent = await inngest.send(request);
  await inngest.idle();
  expect(db.payments.rows).toEqual([]);
  await clock.advanceToEnd();

  const run = await inngest.runs.get(sent.decisions[0]!.runId!);
  expect(run).toMatchObject({ state: "completed" });
  expect(run!.timeline.map(({ name, attempts }) => [name, attempts.length])).toEqual([
    ["charge-card", 1],
    ["record-charge", 2],
  ]);
  expect(stripe.charges.requestCount).toBe(1);
  expect(db.payments.rows).toEqual([{ userId: "usr_1", chargeId: "ch_1", amount: 9900 }]);
});

test("the memo does not reach beyond its run: the same event sent twice without an id charges twice", async () => {
  const { inngest, stripe, request } = shopWithPayments();
  await inngest.start();
  await inngest.send(request);
  await inngest.send(request);
  await inngest.idle();
  expect(await inngest.runs.list({ function: "process-payment" })).toHaveLength(2);
  expect(stripe.charges.all).toHaveLength(2);
});

test("the memo does not reach beyond its run: a rerun charges again where nothing else protects the card", async () => {
  const { inngest, stripe, request } = shopWithPayments();
  await inngest.start();
  const sent = await inngest.send(request);
  await inngest.idle();
  const { runId } = await inngest.runs.rerun(sent.decisions[0]!.runId!);
  expect(await inngest.runs.wait(runId)).toMatchObject({ state: "completed" });
  expect(stripe.charges.all).toHaveLength(2);
});

test("a blind insert leaves two records for two runs, an upsert one, and its createdAt stays the first", async () => {
  const { inngest, clock, db } = openShop();
  inngest.createFunction({ id: "create-user" }, { event: "user/created" }, async ({ event, step }) => {
    await step.run("create-user-record", async () => {
      await db.users.insert({
        id: event.data.userId,
        email: event.data.email,
        createdAt: new Date().toISOString(),
      });
    });
  });
  inngest.createFunction({ id: "ensure-user" }, { event: "user/ensured" }, async ({ event, step }) => {
    await step.run("ensure-user-record", async () => {
      await db.users.upsert(
        { id: event.data.userId }, // conflict target
        {
          email: event.data.email,
          updatedAt: new Date().toISOString(),
        }, // update on conflict
        { createFields: { createdAt: new Date().toISOString() } }, // only on first insert
      );
    });
  });
  await inngest.start();
  const firstAt = new Date(clock.now()).toISOString();
  await inngest.send({ name: "user/created", data: { userId: "usr_inserted", email: "a@example.com" } });
  await inngest.send({ name: "user/ensured", data: { userId: "usr_upserted", email: "a@example.com" } });
  await clock.advance("1m");
  const secondAt = new Date(clock.now()).toISOString();
  await inngest.send({ name: "user/created", data: { userId: "usr_inserted", email: "a@example.com" } });
  await inngest.send({ name: "user/ensured", data: { userId: "usr_upserted", email: "b@example.com" } });
  await inngest.idle();

  expect(db.users.rows.filter(({ id }) => id === "usr_inserted")).toHaveLength(2);
  expect(db.users.rows.filter(({ id }) => id === "usr_upserted")).toEqual([
    { id: "usr_upserted", email: "b@example.com", createdAt: firstAt, updatedAt: secondAt },
  ]);
});

test("create-stripe-customer looks first: the second run returns the existing customer with wasCreated false", async () => {
  const { inngest, stripe } = openShop();
  inngest.createFunction({ id: "create-customer" }, { event: "user/created" }, async ({ event, step }) => {
    return await step.run("create-stripe-customer", async () => {
      // Check first — don't create if one already exists
      const existing = await stripe.customers.list({
        email: event.data.email,
        limit: 1,
      });

      if (existing.data.length > 0) {
        // Customer already exists — return the existing one
        return { customerId: existing.data[0].id, wasCreated: false };
      }

      // Safe to create — we verified they don't exist
      const customer = await stripe.customers.create({
        email: event.data.email,
        metadata: { userId: event.data.userId },
      });

      return { customerId: customer.id, wasCreated: true };
    });
  });
  await inngest.start();
  const outputs: unknown[] = [];
  for (let delivery = 1; delivery <= 2; delivery++) {
    const sent = await inngest.send({ name: "user/created", data: { userId: "usr_1", email: "a@example.com" } });
    outputs.push((await inngest.runs.wait(sent.decisions[0]!.runId!)).output);
  }
  expect(outputs).toEqual([
    { customerId: "cus_1", wasCreated: true },
    { customerId: "cus_1", wasCreated: false },
  ]);
  expect(stripe.customers.all).toHaveLength(1);
});

test("findOrCreate tells the two cases apart: only the run that created the user welcomes them", async () => {
  const { inngest, db, emailService } = openShop();
  inngest.createFunction({ id: "welcome-user" }, { event: "user/created" }, async ({ event, step }) => {
    const { record, wasCreated } = await step.run("find-or-create-user", () =>
      db.users.findOrCreate({ id: event.data.userId }, { email: event.data.email }),
    );
    if (wasCreated) {
      await step.run("welcome", () => emailService.send({ to: record.email, template: "welcome", data: {} }));
    }
    return wasCreated;
  });
  await inngest.start();
  const outputs: unknown[] = [];
  for (let delivery = 1; delivery <= 2; delivery++) {
    const sent = await inngest.send({ name: "user/created", data: { userId: "usr_1", email: "a@example.com" } });
    outputs.push((await inngest.runs.wait(sent.decisions[0]!.runId!)).output);
  }
  expect(outputs).toEqual([true, false]);
  expect(emailService.sent).toHaveLength(1);
  expect(db.users.rows).toHaveLength(1);
});

function shopWithPaymentIntents() {
  const shop = openShop();
  const { inngest, stripe } = shop;
  const createIntent = inngest.createFunction(
    { id: "create-intent" },
    { event: "payment/requested" },
    async ({ event, step }) => {
      return await step.run("create-payment-intent", async () => {
        return await stripe.paymentIntents.create(
          {
            amount: event.data.amountCents,
            currency: "usd",
            customer: event.data.stripeCustomerId,
          },
          {
            // Idempotency key: unique to this specific payment attempt
            // event.id is Inngest's unique event identifier — perfect for this
            idempotencyKey: `payment-intent-${event.id}`,
          },
        );
      });
    },
  );
  const request = { name: "payment/requested", data: { amountCents: 9900, stripeCustomerId: "cus_1" } };
  return { ...shop, createIntent, request };
}

test("a retry after Stripe's answer was lost receives the first payment intent, for event.id is the same", async () => {
  const { inngest, clock, stripe, request } = shopWithPaymentIntents();
  await inngest.start();
  stripe.paymentIntents.loseNextAnswer();
  const sent = await inngest.send(request);
  await clock.advanceToEnd();
  const end = await inngest.runs.wait(sent.decisions[0]!.runId!);
  expect(end).toMatchObject({ state: "completed", output: { id: "pi_1" } });
  expect(stripe.paymentIntents.requestCount).toBe(2);
  expect(stripe.paymentIntents.all).toHaveLength(1);
});

test("without an idempotency key a lost answer charges twice: the memo only knows what it was told", async () => {
  const { inngest, clock, stripe, request } = shopWithPayments();
  await inngest.start();
  stripe.charges.loseNextAnswer();
  await inngest.send(request);
  await clock.advanceToEnd();
  expect(stripe.charges.all).toHaveLength(2);
});

test("a rerun has the same event.id, so Stripe answers with the first payment intent", async () => {
  const { inngest, stripe, request } = shopWithPaymentIntents();
  await inngest.start();
  const sent = await inngest.send(request);
  await inngest.idle();
  const { runId } = await inngest.runs.rerun(sent.decisions[0]!.runId!);
  expect(await inngest.runs.wait(runId)).toMatchObject({ output: { id: "pi_1" } });
  expect(stripe.paymentIntents.requestCount).toBe(2);
  expect(stripe.paymentIntents.all).toHaveLength(1);
});

test("two distinct payment events have two ids and make two payment intents", async () => {
  const { inngest, stripe, request } = shopWithPaymentIntents();
  await inngest.start();
  await inngest.send(request);
  await inngest.send(request);
  await inngest.idle();
  expect(stripe.paymentIntents.all).toHaveLength(2);
});

test("the sent-notifications table answers the second run and the rerun: one e-mail per contract", async () => {
  const { inngest, db, emailService } = openShop();
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  inngest.createFunction({ id: "notify-signer" }, { event: "contract/signed" }, async ({ event, step }) => {
    return await step.run("send-contract-signed-notification", async () => {
      // Check if we've already sent this notification
      const alreadySent = await db.sentNotifications.findOne({
        type: "contract-signed",
        contractId: event.data.contractId,
      });

      if (alreadySent) {
        console.log(`Notification already sent for contract ${event.data.contractId}, skipping`);
        return { status: "already-sent", sentAt: alreadySent.sentAt };
      }

      // Send the notification
      const result = await emailService.send({
        to: event.data.signerEmail,
        template: "contract-signed",
        data: { contractId: event.data.contractId },
      });

      // Record that we've sent it — next run will find this and skip
      await db.sentNotifications.create({
        type: "contract-signed",
        contractId: event.data.contractId,
        sentAt: new Date().toISOString(),
        messageId: result.messageId,
      });

      return { status: "sent", messageId: result.messageId };
    });
  });
  await inngest.start();
  const signed = (contractId: string) =>
    inngest.send({ name: "contract/signed", data: { contractId, signerEmail: "a@example.com" } });

  const first = (await signed("con_1")).decisions[0]!.runId!;
  expect(await inngest.runs.wait(first)).toMatchObject({ output: { status: "sent", messageId: "msg_1" } });
  const second = (await signed("con_1")).decisions[0]!.runId!;
  expect(await inngest.runs.wait(second)).toMatchObject({ output: { status: "already-sent" } });
  const { runId: third } = await inngest.runs.rerun(first);
  expect(await inngest.runs.wait(third)).toMatchObject({ output: { status: "already-sent" } });
  expect(emailService.sent).toHaveLength(1);
  expect(log).toHaveBeenCalledWith("Notification already sent for contract con_1, skipping");

  const other = (await signed("con_2")).decisions[0]!.runId!;
  expect(await inngest.runs.wait(other)).toMatchObject({ output: { status: "sent" } });
  log.mockRestore();
});
