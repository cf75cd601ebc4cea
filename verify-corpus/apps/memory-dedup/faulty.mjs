// What a process remembers is gone with it.
import { host, inngest } from "../host.mjs";

const charged = new Set();

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("charge", async () => {
        if (charged.has(event.data.placementId)) return;
        // ✗ DOUBLED
        const answer = await fetch("https://api.stripe.com/v1/charges", {
          method: "POST",
          body: JSON.stringify({ placement: event.data.placementId }),
        });
        if (!answer.ok) throw new Error(`refused with ${answer.status}`);
        charged.add(event.data.placementId);
      });
    },
  ),
);
