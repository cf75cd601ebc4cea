import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

let count = 0;

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      count += 1;
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": `invoice-${count}` },
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
