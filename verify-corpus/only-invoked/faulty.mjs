import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction({ id: "charge-placement", idempotency: "event.data.placementId" }, [], async ({ event, step }) => {
  await step.run("charge", async () => {
    // ✗ DOUBLED
    const answer = await fetch("https://api.stripe.com/v1/charges", {
      method: "POST",
      body: JSON.stringify({ placement: event.data.placementId }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  });
});
