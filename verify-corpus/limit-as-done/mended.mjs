import { Idem, RetryAfterError } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("invoice", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (answer.status === 429)
        throw new RetryAfterError("another time", Number(answer.headers.get("retry-after")) * 1_000);
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
