import { Idem, NonRetriableError } from "idem";

const idem = new Idem({ id: "agency" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
  async ({ step }) => {
    await step.run("read-rate", () => {
      throw new NonRetriableError("no rate for EUR");
    });
  },
);
