import { writeFile } from "node:fs/promises";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("journal", async () => {
      await writeFile(`journal-${event.data.placementId}.csv`, `${event.data.placementId};${event.data.email}\n`);
    });
  },
);
