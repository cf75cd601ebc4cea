// A charge without an idempotency key: a step that ran and was not recorded runs again.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("charge", async () => {
        // ✗ DOUBLED
        const answer = await fetch("https://api.stripe.com/v1/charges", {
          method: "POST",
          body: JSON.stringify({ placement: event.data.placementId }),
        });
        if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      });
    },
  ),
);
