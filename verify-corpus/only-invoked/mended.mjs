import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction({ id: "charge-placement", idempotency: "event.data.placementId" }, [], async ({ event, step }) => {
  await step.run("charge", async ({ key }) => {
    const answer = await fetch("https://api.stripe.com/v1/charges", {
      method: "POST",
      headers: { "idempotency-key": key },
      body: JSON.stringify({ placement: event.data.placementId }),
    });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
  });
});
