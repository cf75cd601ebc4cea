import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

const lines = [];

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("note-metric", async () => {
      lines.push(event.data.placementId);
      setTimeout(async () => {
        const line = lines.shift();
        // ✗ LOST
        await fetch("https://metrics.example/lines", {
          method: "POST",
          headers: { "idempotency-key": line },
          body: JSON.stringify([line]),
        });
      }, 5_000);
    });
  },
);
