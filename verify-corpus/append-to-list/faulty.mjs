import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("tag", async () => {
      const found = await fetch(`https://crm.example/clients/${event.data.clientId}`);
      const { tags = [] } = await found.json();
      // ✗ DOUBLED
      const answer = await fetch(`https://crm.example/clients/${event.data.clientId}`, {
        method: "PATCH",
        body: JSON.stringify({ tags: [...tags, event.data.placementId] }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
