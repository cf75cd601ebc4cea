// Without a key of its own, the same placement under another event id is charged again.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction({ id: "charge", triggers: [{ event: "crm/placement.made" }] }, async ({ event, step }) => {
    await step.run("charge", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/charges", {
        method: "POST",
        headers: { "idempotency-key": `charge-${event.id}` },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`refused with ${answer.status}`);
    });
  }),
);
