import { Idem } from "idem";
import { request } from "undici";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      const { statusCode, body } = await request("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      const { id } = await body.json();
      if (statusCode !== 200) throw new Error(`answered ${statusCode}`);
      return id;
    });
  },
);
