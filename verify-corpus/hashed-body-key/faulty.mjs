import { createHash } from "node:crypto";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      const invoice = { placement: event.data.placementId, madeAt: new Date().toISOString() };
      const print = createHash("sha256").update(JSON.stringify(invoice)).digest("hex");
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": print },
        body: JSON.stringify(invoice),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
