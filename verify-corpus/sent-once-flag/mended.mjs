import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-welcome", async ({ key }) => {
      const answer = await fetch("https://api.resend.com/emails", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ to: event.data.email, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
