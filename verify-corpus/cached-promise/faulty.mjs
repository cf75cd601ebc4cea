import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

let sending;

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      // ✗ LOST
      sending ??= fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      const answer = await sending;
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
