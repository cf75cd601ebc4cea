import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.invoke("charge", { function: "charge", data: { placementId: event.data.placementId } });
  },
);

idem.createFunction({ id: "charge" }, [], async ({ event, step }) => {
  await step.run("charge", async () => {
    // ✗ DOUBLED
    const answer = await fetch("https://api.stripe.com/v1/charges", {
      method: "POST",
      body: JSON.stringify({ placement: event.data.placementId }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  });
});
