import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("count", () => {
      const counted = existsSync("counted.json") ? JSON.parse(readFileSync("counted.json", "utf8")) : {};
      writeFileSync("counted.json", JSON.stringify({ ...counted, [event.data.placementId]: 1 }));
    });
  },
);
