import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("mark-draft", async ({ key }) => {
      const put = await fetch(`https://crm.example/placements/${event.data.placementId}`, {
        method: "PUT",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ state: "draft" }),
      });
      if (!put.ok) throw new Error(`answered ${put.status}`);
    });
    await step.run("mark-sent", async ({ key }) => {
      const put = await fetch(`https://crm.example/placements/${event.data.placementId}`, {
        method: "PUT",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ state: "sent" }),
      });
      if (!put.ok) throw new Error(`answered ${put.status}`);
    });
  },
);
