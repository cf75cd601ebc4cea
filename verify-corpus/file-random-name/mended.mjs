import { writeFileSync } from "node:fs";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("write-letter", () => {
      writeFileSync(`letter-${event.data.placementId}.txt`, `Dear ${event.data.email}`);
    });
  },
);
