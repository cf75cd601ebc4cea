import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  {
    id: "draft-invoice",
    idempotency: "event.data.placementId",
    onFailure: async ({ event, step }) => {
      await step.run("tell", async ({ key }) => {
        const answer = await fetch("https://api.resend.com/emails", {
          method: "POST",
          headers: { "idempotency-key": key },
          body: JSON.stringify({ to: "ops@example.com", run: event.data.event.data.placementId }),
        });
        if (!answer.ok) throw new Error(`answered ${answer.status}`);
      });
    },
  },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("invoice", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
