import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.userId" },
  { event: "payment/requested" },
  async ({ event, step }) => {
    await step.run("charge", async ({ key }) => {
      // ✗ LOST
      const answer = await fetch("https://api.stripe.com/v1/charges", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ user: event.data.userId, payment: event.data.paymentId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
