import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "ten-steps", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    for (let i = 0; i < 10; i++) {
      await step.run(`post-${i}`, async ({ key }) => {
        const answer = await fetch(`https://billing.example/collection-${i}`, {
          method: "POST",
          headers: { "idempotency-key": key },
          body: JSON.stringify({ placement: event.data.placementId }),
        });
        if (!answer.ok) throw new Error(String(answer.status));
      });
    }
  },
);
