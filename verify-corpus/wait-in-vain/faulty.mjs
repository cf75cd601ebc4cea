import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const approved = await step.waitForEvent("approval", {
      event: "crm/placement.approved",
      timeout: "3d",
      match: "data.placementId",
    });
    if (approved !== null) return;
    await step.run("escalate", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.resend.com/emails", {
        method: "POST",
        body: JSON.stringify({ to: "boss@example.com", placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
