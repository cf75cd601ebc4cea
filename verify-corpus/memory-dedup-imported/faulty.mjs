import { Idem } from "idem";
import { seen } from "./seen.mjs";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      if (seen.has(event.data.placementId)) return;
      seen.add(event.data.placementId);
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
