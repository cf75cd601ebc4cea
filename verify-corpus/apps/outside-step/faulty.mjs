// Outside of any step it happens whenever the code is entered: here again after the sleep.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/charges", {
        method: "POST",
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      await step.sleep("cool-off", "1h");
    },
  ),
);
