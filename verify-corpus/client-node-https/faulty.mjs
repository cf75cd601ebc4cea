import { once } from "node:events";
import { request } from "node:https";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      // ✗ DOUBLED
      const sent = request("https://api.stripe.com/v1/invoices", { method: "POST" });
      sent.end(JSON.stringify({ placement: event.data.placementId }));
      const [answer] = await once(sent, "response");
      if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
    });
  },
);
