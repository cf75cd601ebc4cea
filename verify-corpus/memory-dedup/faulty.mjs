import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

const done = new Set();

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      if (done.has(event.data.placementId)) return;
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      done.add(event.data.placementId);
    });
  },
);
