// An event that is sent by the code itself is sent whenever the code is entered.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      // ✗ DOUBLED
      await inngest.send({ name: "crm/placement.charged", data: { placementId: event.data.placementId } });
      await step.sleep("cool-off", "1h");
    },
  ),
);
