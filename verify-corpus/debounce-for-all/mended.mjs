import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", debounce: { period: "30s", key: "event.data.placementId" } },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("sync", async () => {
      const answer = await fetch(`https://search.example/placements/${event.data.placementId}`, {
        method: "PUT",
        body: JSON.stringify({ client: event.data.clientId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
