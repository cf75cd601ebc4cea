import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.paymentId" },
  { event: "payment/requested" },
  async ({ event, step }) => {
    await step.run("create-payment-intent", async () => {
      const answer = await fetch("https://api.stripe.com/v1/payment_intents", {
        method: "POST",
        headers: { "idempotency-key": `payment-intent-${event.data.paymentId}` },
        body: JSON.stringify({ amount: event.data.amount }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
