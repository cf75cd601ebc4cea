import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("log", async () => {
      const out = createWriteStream(`placement-${event.data.placementId}.log`);
      out.write(`${new Date().toISOString()} placement ${event.data.placementId}\n`);
      out.end();
      await finished(out);
    });
  },
);
