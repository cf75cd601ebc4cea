import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      for (let tries = 0; tries < 3; tries++) {
        try {
          // ✗ DOUBLED
          const answer = await fetch("https://api.stripe.com/v1/invoices", {
            method: "POST",
            body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
          });
          if (answer.ok) return;
        } catch (error) {
          console.error("once more", error);
        }
      }
      throw new Error("three times in vain");
    });
  },
);
