import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ step }) => {
    await step.run("count", () => {
      const { count } = existsSync("count.json") ? JSON.parse(readFileSync("count.json", "utf8")) : { count: 0 };
      // ✗ DOUBLED
      writeFileSync("count.json", JSON.stringify({ count: count + 1 }));
    });
  },
);
