import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      // ✗ DOUBLED
      const answer = await fetch(`https://api.shop.example/invoices/${Date.now()}`, {
        method: "PUT",
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
