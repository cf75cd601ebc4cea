// The shop: every place where something could happen twice, and the line that keeps it from doing so.
import express from "express";
import { RetryAfterError } from "idem";
import { idempotent, keepRawBody } from "idem/express";
import { idempotency, sqlKeys } from "idem/http";
import { createOutbox, createSentLog, transitionSync } from "idem/toolkit";
import { nodeWebhook, stripe as stripeWebhooks, webhook } from "idem/webhooks";
import { chargeLater } from "./charge-later.mjs";

export function openShop({ idem, adapter, stripe, mailer, webhookSecret }) {
  const app = express();
  const outbox = createOutbox(adapter);

  // Webhooks, before any body parser: verified, claimed by Stripe's event id, kept, answered; and only then fulfilled.
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

  // Pay: once per Idempotency-Key, of this customer. The handler may be entered again after a crash or a 5xx, because everything it does
  // bears repeating. The lease is short for the story's sake; 60 seconds unless told.
  app.use(express.json({ verify: keepRawBody }));
  const keys = idempotency({ keys: sqlKeys(adapter), principal: (request) => request.headers.get("x-customer") });
  const once = idempotent(keys, {
    onCrash: "rerun",
    onDuplicate: "wait",
    store: ({ status }) => (status >= 500 ? "resume" : undefined),
    lease: "2s",
  });
  app.post("/orders/:id/pay", once, async (req, res) => {
    // The same on every attempt of this request, also in another process: Stripe knows it again.
    const payment = req.idempotency.destinationKey("charge");
    // Another window has a key of its own, so the order itself is taken as well.
    const mine = { id: req.params.id, customer: req.get("x-customer") };
    const take = { table: "orders", where: mine, from: "open", to: "paying", set: { payment } };
    const { row: order } = adapter.transactionSync((tx) => transitionSync(adapter, tx, take));
    if (order === null) return res.status(404).json({ error: "no such order" });
    if (order.payment !== payment) return res.status(409).json({ error: "it is paid in another window" });

    const charge = await stripe.charges.create(
      { amount: order.cents, customer: order.customer, metadata: { order: order.id } },
      { headers: { "idempotency-key": payment } },
    );
    // That it is paid and the event about it are one commit.
    adapter.transactionSync((tx) => {
      tx.prepare("update orders set state = 'paid', charge = ? where id = ?").run(charge.id, order.id);
      const data = { order: order.id, email: order.email };
      outbox.sendSync(tx, { name: "order/paid", data }, { dedupKey: order.id });
    });
    res.status(201).json({ order: order.id, charge: charge.id });
  });

  app.use((_error, _req, res, _next) => res.status(502).json({ error: "please try again" }));

  // Receipts. The mail provider knows no keys: the sent-log asks it for the mail's tag before it sends anything a second time.
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
      throw new RetryAfterError(`the receipt is ${answer.kind}`, answer.leaseLeftMs ?? answer.retryAfterMs ?? 1_000);
    });
  });

  chargeLater(idem, stripe);

  return { app, outbox, keys };
}
