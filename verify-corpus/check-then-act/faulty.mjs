import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const found = await (await fetch(`https://billing.example/invoices?placement=${event.data.placementId}`)).json();
      if (found.length > 0) return;
      // ✗ DOUBLED
      const answer = await fetch("https://billing.example/invoices", {
        method: "POST",
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
