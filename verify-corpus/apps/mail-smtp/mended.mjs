// Handed to a provider that takes a key.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("send-mail", async () => {
        const answer = await fetch("https://api.resend.com/emails", {
          method: "POST",
          headers: {
            "content-type": "application/json",
            "idempotency-key": `mail-${event.data.placementId}`,
          },
          body: JSON.stringify({ to: "ann@example.com", subject: `Placement ${event.data.placementId}` }),
        });
        if (!answer.ok) throw new Error(`refused with ${answer.status}`);
      });
    },
  ),
);
