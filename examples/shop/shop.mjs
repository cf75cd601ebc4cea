// The shop. Four places where something could happen twice, and the line that keeps it from doing so in each.
import express from "express";
import { destination, RetryAfterError } from "idem";
import { idempotent, keepRawBody } from "idem/express";
import { idempotency, sqlKeys } from "idem/http";
import { createOutbox, createSentLog } from "idem/toolkit";
import { nodeWebhook, stripe as stripeWebhooks, webhook } from "idem/webhooks";
import { memoryMs } from "./fake-stripe.mjs";

// destination("stripe") knows the real one's 24 hours; this one has a memory of its own.
const stripeKeys = destination({ name: "fake-stripe", header: "Idempotency-Key", remembers: memoryMs });

export function openShop({ idem, adapter, stripe, mailer, webhookSecret }) {
  const app = express();
  const outbox = createOutbox(adapter);

  // 1. Redelivered webhooks: verified, claimed by Stripe's event id, kept, answered; and only then fulfilled.
  app.post(
    "/webhooks/stripe",
    nodeWebhook(webhook({ source: "stripe", provider: stripeWebhooks({ secrets: [webhookSecret] }), idem })),
  );
  idem.createFunction(
    { id: "fulfil" },
    { event: "stripe/charge.succeeded", if: "has(event.data.data.object.metadata.order)" },
    async ({ event, step }) => {
      const { id, metadata } = event.data.data.object;
      // The shipment and that this step is done are one commit of the shop's own database.
      await step.transaction("ship", adapter, (tx) => {
        tx.prepare("insert into shipments (order_id, charge) values (?, ?)").run(metadata.order, id);
      });
    },
  );

  // 2. Double clicks and retries: one charge per Idempotency-Key. A crash reruns the handler, and Stripe gets the same key again.
  app.use(express.json({ verify: keepRawBody }));
  const keys = idempotency({ keys: sqlKeys(adapter), principal: (request) => request.headers.get("x-customer") });
  // The lease is short for the story's sake; 60 seconds unless told.
  const once = idempotent(keys, { onCrash: "rerun", onDuplicate: "wait", lease: "2s" });
  app.post("/orders/:id/pay", once, async (req, res) => {
    const order = adapter.transactionSync((tx) => tx.prepare("select * from orders where id = ?").get(req.params.id));
    if (order === undefined) return res.status(404).json({ error: "no such order" });
    const charge = await stripe.charges.create(
      { amount: order.cents, customer: order.customer, metadata: { order: order.id } },
      { headers: { "idempotency-key": req.idempotency.destinationKey("charge") } },
    );
    // 3. The order and the event about it are one commit.
    adapter.transactionSync((tx) => {
      tx.prepare("update orders set state = 'paid', charge = ? where id = ?").run(charge.id, order.id);
      outbox.sendSync(
        tx,
        { name: "order/paid", data: { order: order.id, email: order.email } },
        { dedupKey: order.id },
      );
    });
    res.status(201).json({ order: order.id, charge: charge.id });
  });

  // The mail provider knows no keys: the sent-log asks it by the mail's tag before it sends anything a second time.
  const receipts = createSentLog(adapter, {
    onUnknown: "reconcile",
    reconcileAfter: "1s",
    lease: "1s",
    reconcile: async ({ tag }) => {
      const [mail] = await mailer.taggedWith(tag);
      return mail === undefined ? "absent" : { found: { id: mail.id } };
    },
  });
  idem.createFunction({ id: "mail-receipt" }, { event: "order/paid" }, async ({ event, step }) => {
    const { order, email } = event.data;
    return step.run("mail", async () => {
      const what = { template: "receipt", recipient: email, about: order, window: "30d" };
      const answer = await receipts.once(what, ({ tag }) =>
        mailer.send({ to: email, subject: `Your receipt for ${order}`, headers: { "x-tag": tag } }),
      );
      if ("receipt" in answer) return answer.receipt;
      throw new RetryAfterError(`the receipt is ${answer.outcome}`, answer.leaseLeftMs ?? answer.retryAfterMs ?? 1_000);
    });
  });

  // 4. Effects that are retried for longer than Stripe remembers: looked up where that can be done, parked where it cannot.
  // 3 seconds are past the 2 in which this Stripe may be asked again; with the real one it would be the second day.
  const patiently = { retries: 5, backoff: () => 3_000 };
  const chargeFor = (event) => (context) =>
    stripe.charges.create({ ...event.data, metadata: { mark: context.key } }, { headers: context.headers });
  idem.createFunction({ id: "renew-membership", ...patiently }, { event: "membership/due" }, async ({ event, step }) =>
    step.effect(
      "charge",
      {
        destination: stripeKeys,
        entity: `membership-${event.data.customer}`,
        reconcileAfter: "1s",
        reconcile: async ({ key }) => {
          const [found] = await stripe.charges.markedWith(key);
          return found === undefined ? "absent" : { found };
        },
      },
      chargeFor(event),
    ),
  );
  idem.createFunction({ id: "pay-deposit", ...patiently }, { event: "deposit/due" }, async ({ event, step }) =>
    step.effect("charge", { destination: stripeKeys, entity: `deposit-${event.data.customer}` }, chargeFor(event)),
  );

  return { app, outbox, keys };
}
