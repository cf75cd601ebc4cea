import { appendFile } from "node:fs/promises";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("note", async () => {
      // ✗ DOUBLED
      await appendFile(process.env.CORPUS_JOURNAL, Buffer.from(`${event.data.placementId}\n`));
    });
  },
);
