import { rename, writeFile } from "node:fs/promises";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("export", async () => {
      const name = `export-${event.data.placementId}.csv`;
      await writeFile(`${name}.tmp`, `${event.data.placementId};${event.data.email}\n`);
      await rename(`${name}.tmp`, name);
    });
  },
);
