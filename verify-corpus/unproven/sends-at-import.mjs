import { Idem } from "idem";

const idem = new Idem({ id: "corpus", store: "sqlite:/nowhere/that/exists/shop.db" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("work", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);

await idem.start();
await idem.send({ name: "crm/placement.made", data: { placementId: "1", clientId: "c1", email: "at@import" } });
