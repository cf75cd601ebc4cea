// A key that is drawn when the step is entered is another one each time.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("charge", async () => {
        const key = crypto.randomUUID();
        // ✗ DOUBLED
        const answer = await fetch("https://api.stripe.com/v1/charges", {
          method: "POST",
          headers: { "idempotency-key": key },
          body: JSON.stringify({ placement: event.data.placementId }),
        });
        if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      });
    },
  ),
);
