import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const approved = await step.waitForEvent("approval", {
      event: "crm/approval.given",
      timeout: "3d",
      if: "async.data.placementId == event.data.placementId && size(async.data.votes) > 1",
    });
    if (approved === null) return;
    await step.run("charge", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
