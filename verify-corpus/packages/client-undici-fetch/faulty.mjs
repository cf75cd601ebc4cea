import { Idem } from "idem";
import { Agent, fetch } from "undici";

const idem = new Idem({ id: "corpus" });
const dispatcher = new Agent({ keepAliveTimeout: 10 });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        dispatcher,
        method: "POST",
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
