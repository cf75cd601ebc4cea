// The wrong and right code of the three articles Idem comes from, told apart: the wrong code is reported by the rule that is meant, the right code is not.
import type { Linter } from "eslint";
import { expect, test } from "vitest";
import { lint } from "./cases.suite.ts";
import plugin from "./index.ts";

const rules = plugin.configs.recommended.rules as Linter.RulesRecord;
const told = (code: string) => new Set(lint(code, rules).map(({ ruleId }) => ruleId?.replace("idem/", "")));

const fn = (options: string, body: string) =>
  `export const fn = inngest.createFunction({ id: "fn", ${options} }, { event: "bullhorn/placement.event" }, async ({ event, step }) => { ${body} });`;
const inStep = (body: string) =>
  fn(`idempotency: "event.data.placementId"`, `await step.run("step", async () => { ${body} });`);

const draft = (options: string, key: string) =>
  fn(
    options,
    `const placement = await step.run("fetch-placement", async () => bullhorn.placements.get(event.data.placementId));
     await step.run("create-stripe-draft", async () => stripe.invoices.create({ customer: placement.clientStripeId }${key}));`,
  );
const send = (id: string) => `await inngest.send({ ${id} name: "cart/checkout.completed", data: { cartId, email } });`;

const pairs: Record<string, { rule: string; wrong: string; right: string }> = {
  "a subscription that is inserted, and one that is ensured": {
    rule: "insert-on-conflict",
    wrong: `async function createSubscription(userId, plan) { return await db.subscriptions.insert({ userId, plan, status: "active" }); } ${inStep("await createSubscription(event.data.userId, event.data.plan);")}`,
    right: `async function ensureSubscription(userId, plan) { return await db.subscriptions.upsert({ userId }, { userId, plan, status: "active" }); } ${inStep("await ensureSubscription(event.data.userId, event.data.plan);")}`,
  },
  "a user's record": {
    rule: "insert-on-conflict",
    wrong: inStep(
      `await db.users.insert({ id: event.data.userId, email: event.data.email, createdAt: new Date().toISOString() });`,
    ),
    right: inStep(
      `await db.users.upsert({ id: event.data.userId }, { email: event.data.email, updatedAt: new Date().toISOString() }, { createFields: { createdAt: new Date().toISOString() } });`,
    ),
  },
  "the two operations of the quiz": {
    rule: "insert-on-conflict",
    wrong: inStep(`await db.users.insert({ id: userId, email, plan: "pro" });`),
    right: inStep(
      `await db.users.upsert({ id: userId }, { email, plan: "pro", updatedAt: new Date().toISOString() });`,
    ),
  },
  "a charge without and a payment intent with a key": {
    rule: "destination-key",
    wrong: inStep(`return await stripe.charges.create({ amount: event.data.amountCents, currency: "usd" });`),
    right: inStep(
      "return await stripe.paymentIntents.create({ amount: event.data.amountCents }, { idempotencyKey: `payment-intent-${event.id}` });",
    ),
  },
  "the invoices of 73 clients: no key on the function": {
    rule: "function-key",
    wrong: draft("", ""),
    right: draft(`idempotency: "event.data.placementId"`, ", { idempotencyKey: `invoice-placement-${placement.id}` }"),
  },
  "the invoices of 73 clients: no key at Stripe": {
    rule: "destination-key",
    wrong: draft("", ""),
    right: draft(`idempotency: "event.data.placementId"`, ", { idempotencyKey: `invoice-placement-${placement.id}` }"),
  },
  "a UUID that is made inside of the step": {
    rule: "no-random-key",
    wrong: draft(`idempotency: "event.data.placementId"`, ", { idempotencyKey: crypto.randomUUID() }"),
    right: draft(`idempotency: "event.data.placementId"`, ", { idempotencyKey: `invoice-placement-${placement.id}` }"),
  },
  "an event without and with an id": {
    rule: "send-with-id",
    wrong: send(""),
    right: send("id: `checkout-completed-${cartId}`,"),
  },
  "an id that is too generic": {
    rule: "send-with-id",
    wrong: send("id: cartId,"),
    right: send("id: `checkout-completed-${cartId}`,"),
  },
  "an id that is too unique": {
    rule: "no-random-key",
    wrong: send("id: `checkout-${Date.now()}`,"),
    right: send("id: `invoice-paid-${invoiceId}`,"),
  },
  "an id that is too broad": {
    rule: "send-with-id",
    wrong: send("id: `payment-${userId}`,"),
    right: `${send("id: `payment-${userId}-${paymentIntentId}`,")} ${send("id: `payment-${userId}-${timestamp}`,")} ${send("id: `account-created-${userId}`,")}`,
  },
  "one send of two that has an id": {
    rule: "send-with-id",
    wrong: `await inngest.send({ name: "a/b", data: {} });`,
    right: `await inngest.send({ id: "my-key", name: "a/b", data: {} });`,
  },
  "a counter, and its final value": {
    rule: "no-increment",
    wrong: inStep(`await db.query("UPDATE stats SET count = count + 1 WHERE id = $1", [event.data.statsId]);`),
    right: inStep(
      `await db.query("UPDATE stats SET count = $2 WHERE id = $1", [event.data.statsId, event.data.count]);`,
    ),
  },
  "a function for a webhook's events": {
    rule: "function-key",
    wrong: `inngest.createFunction({ id: "handle-stripe-payment" }, { event: "stripe/payment.succeeded" }, async ({ event, step }) => {});`,
    right: `inngest.createFunction({ id: "handle-stripe-payment", idempotency: "event.data.stripeEventId" }, { event: "stripe/payment.succeeded" }, async ({ event, step }) => {});`,
  },
  "a read and a write of one row, and a conditional update": {
    rule: "no-check-then-act",
    wrong: inStep(
      `const row = await db.invoices.findOne({ placementId: 1 }); if (!row) await db.invoices.insert({ placementId: 1 });`,
    ),
    right: inStep(
      `await db.query("insert into invoices (placement_id) values ($1) on conflict do nothing", [event.data.placementId]);`,
    ),
  },
  "a webhook: claimed and then verified, verified and then claimed": {
    rule: "verify-before-claim",
    wrong: `async function handler(req) { await db.query("insert into processed_webhook_events (event_id) values ($1) on conflict do nothing", [req.body.id]); stripe.webhooks.constructEvent(req.raw, req.headers["stripe-signature"], secret); }`,
    right: `async function handler(req) { stripe.webhooks.constructEvent(req.raw, req.headers["stripe-signature"], secret); await db.query("insert into processed_webhook_events (event_id) values ($1) on conflict do nothing", [req.body.id]); }`,
  },
  "a digest by the time it is sent, and by the time it was due": {
    rule: "no-random-key",
    wrong: inStep("await resend.emails.send(mail, { idempotencyKey: `daily-digest-${new Date().toISOString()}` });"),
    right: inStep("await resend.emails.send(mail, { idempotencyKey: `daily-digest-${event.data.scheduledAt}` });"),
  },
};

test.each(Object.entries(pairs))("%s", (_title, { rule, wrong, right }) => {
  expect(told(wrong)).toContain(rule);
  expect([...told(right)]).toEqual([]);
});
