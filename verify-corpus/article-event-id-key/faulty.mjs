import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction({ id: "draft-invoice" }, { event: "payment/requested" }, async ({ event, step }) => {
  await step.run("create-payment-intent", async () => {
    // ✗ DOUBLED
    const answer = await fetch("https://api.stripe.com/v1/payment_intents", {
      method: "POST",
      headers: { "idempotency-key": `payment-intent-${event.id}` },
      body: JSON.stringify({ amount: event.data.amount }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  });
});
