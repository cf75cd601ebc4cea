import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("charge", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/charges", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("receipt", async () => {
      const made = await fetch(`https://api.shop.example/receipts/${event.data.placementId}`, {
        method: "PUT",
        body: JSON.stringify({ state: "made" }),
      });
      if (!made.ok) throw new Error(`answered ${made.status}`);
    });
  },
);
