// Two effects in one step: where the mail fails, the charge is made again.
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
        const mailed = await fetch("https://api.resend.com/emails", {
          method: "POST",
          headers: { "idempotency-key": `mail-${event.data.placementId}` },
          body: JSON.stringify({ to: event.data.email }),
        });
        if (!mailed.ok) throw new Error(`refused with ${mailed.status}`);
      });
    },
  ),
);
