import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    // ✗ DOUBLED
    const answer = await fetch("https://api.slack.com/notices", {
      method: "POST",
      body: JSON.stringify({ text: event.data.placementId }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    await step.sleep("a-day", "1d");
    await step.run("invoice", async ({ key }) => {
      const made = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!made.ok) throw new Error(`answered ${made.status}`);
    });
  },
);
