import { randomUUID } from "node:crypto";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const id = randomUUID();
    await step.run("create-payment", async () => {
      // ✗ DOUBLED
      const answer = await fetch(`https://api.bank.example/payments/${id}`, {
        method: "PUT",
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
