import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("note-metric", async ({ key }) => {
      const answer = await fetch("https://metrics.example/lines", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify([event.data.placementId]),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
