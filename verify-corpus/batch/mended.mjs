import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: { none: "each batch is new work" }, batchEvents: { maxSize: 10, timeout: "5s" } },
  { event: "crm/placement.made" },
  async ({ events, step }) => {
    await step.run("upload", async ({ key }) => {
      const answer = await fetch("https://warehouse.example/uploads", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placements: events.map(({ data }) => data.placementId) }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
