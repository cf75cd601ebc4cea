import { Idem } from "idem";

export const idem = new Idem({ id: "billing" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      const { placementId, clientId } = event.data as { placementId: string; clientId: string };
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "Idempotency-Key": key },
        body: JSON.stringify({ customer: clientId, placement: placementId }),
      });
      if (!answer.ok) throw new Error(`Stripe answered ${answer.status}`);
    });
  },
);
