import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.sendEvent("ask", { name: "crm/charge.wanted", data: { placementId: event.data.placementId } });
  },
);

idem.createFunction({ id: "charge" }, { event: "crm/charge.wanted" }, async ({ event, step }) => {
  await step.run("charge", async () => {
    // ✗ DOUBLED
    const answer = await fetch("https://api.stripe.com/v1/charges", {
      method: "POST",
      body: JSON.stringify({ placement: event.data.placementId }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  });
});
