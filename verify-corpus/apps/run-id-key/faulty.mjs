// The key is another one in a rerun.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step, runId }) => {
      await step.run("charge", async () => {
        // ✗ DOUBLED
        const answer = await fetch("https://api.stripe.com/v1/charges", {
          method: "POST",
          headers: { "idempotency-key": `charge-${runId}` },
          body: JSON.stringify({ placement: event.data.placementId }),
        });
        if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      });
    },
  ),
);
