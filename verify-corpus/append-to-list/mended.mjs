import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("tag", async () => {
      const answer = await fetch(`https://crm.example/clients/${event.data.clientId}/tags/${event.data.placementId}`, {
        method: "PUT",
        body: JSON.stringify({ isSet: true }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
