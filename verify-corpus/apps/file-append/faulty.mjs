// A line is appended, and the process dies before anybody hears of it.
import { appendFileSync } from "node:fs";
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("journal", () => {
        // ✗ DOUBLED
        appendFileSync("journal.csv", `${event.data.placementId}\n`);
      });
    },
  ),
);
