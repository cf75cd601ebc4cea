// A file for each, written whole.
import { writeFile } from "node:fs/promises";
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("journal", async () => {
        await writeFile(`journal-${event.data.placementId}.csv`, `${event.data.placementId}\n`);
      });
    },
  ),
);
