import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-mail", async ({ key }) => {
      setTimeout(() => {
        // ✗ LOST
        fetch("https://api.resend.com/emails", {
          method: "POST",
          headers: { "idempotency-key": key },
          body: JSON.stringify({ to: event.data.email }),
        });
      }, 50);
    });
  },
);
