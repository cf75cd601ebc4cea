import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-welcome", async () => {
      // ✗ LOST
      await fetch("https://api.resend.com/emails", {
        method: "POST",
        headers: { "idempotency-key": "welcome" },
        body: JSON.stringify({ to: event.data.email }),
      });
    });
  },
);
