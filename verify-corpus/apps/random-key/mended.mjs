// A key that is drawn in a step of its own is recorded.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      const key = await step.run("draw-key", () => crypto.randomUUID());
      await step.run("charge", async () => {
        const answer = await fetch("https://api.stripe.com/v1/charges", {
          method: "POST",
          headers: { "idempotency-key": `charge-${event.data.placementId}-${key.length}` },
          body: JSON.stringify({ placement: event.data.placementId }),
        });
        if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      });
    },
  ),
);
