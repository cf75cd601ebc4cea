// Nobody waits for what the timer does: a death before it rings loses it.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("charge", async () => {
        setTimeout(() => {
          // ✗ LOST
          void fetch("https://api.stripe.com/v1/charges", {
            method: "POST",
            headers: { "idempotency-key": `charge-${event.data.placementId}` },
            body: JSON.stringify({ placement: event.data.placementId }),
          });
        }, 50);
      });
    },
  ),
);
