import got from "got";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      const headers = { "idempotency-key": key };
      const json = { placement: event.data.placementId };
      await got.post("https://api.stripe.com/v1/invoices", { json, headers }).json();
    });
  },
);
