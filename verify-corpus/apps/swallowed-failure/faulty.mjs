// A failure that is only logged is never tried again.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("charge", async () => {
        try {
          // ✗ LOST
          const answer = await fetch("https://api.stripe.com/v1/charges", {
            method: "POST",
            headers: { "idempotency-key": `charge-${event.data.placementId}` },
            body: JSON.stringify({ placement: event.data.placementId }),
          });
          if (!answer.ok) throw new Error(`refused with ${answer.status}`);
        } catch (error) {
          console.error("not charged", error);
        }
      });
    },
  ),
);
