import { rename, writeFile } from "node:fs/promises";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("export", async () => {
      await writeFile("export.csv.tmp", `${event.data.placementId};${event.data.email}\n`);
      // ✗ DOUBLED
      await rename("export.csv.tmp", `export-${Date.now()}.csv`);
    });
  },
);
