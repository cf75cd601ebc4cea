import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: { none: "each batch is new work" }, batchEvents: { maxSize: 10, timeout: "5s" } },
  { event: "crm/placement.made" },
  async ({ events, step }) => {
    await step.run("upload", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://warehouse.example/uploads", {
        method: "POST",
        body: JSON.stringify({ placements: events.map(({ data }) => data.placementId) }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
