import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const id = await step.run("make-id", () => `payment-${event.data.placementId}`);
    await step.run("create-payment", async () => {
      const answer = await fetch(`https://api.bank.example/payments/${id}`, {
        method: "PUT",
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
