import axios from "axios";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      const headers = { "Idempotency-Key": key };
      await axios.post("https://api.stripe.com/v1/invoices", { placement: event.data.placementId }, { headers });
    });
  },
);
