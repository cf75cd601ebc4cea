import got from "got";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    // The package asks on turns of its own: the step's line is what is known.
    // ✗ DOUBLED
    await step.run("create-invoice", async () => {
      await got.post("https://api.stripe.com/v1/invoices", { json: { placement: event.data.placementId } }).json();
    });
  },
);
