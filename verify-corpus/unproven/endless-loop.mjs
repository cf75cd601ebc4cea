import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("work", async ({ key }) => {
      for (let n = 0; event.data.placementId !== ""; n++) if (n < 0) return key;
    });
  },
);
