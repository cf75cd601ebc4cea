import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", rateLimit: { limit: 1, period: "1h" } },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("sync", async () => {
      // ✗ LOST
      const answer = await fetch(`https://search.example/placements/${event.data.placementId}`, {
        method: "PUT",
        body: JSON.stringify({ client: event.data.clientId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
