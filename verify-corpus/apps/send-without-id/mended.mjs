// The event has an id: however often it is sent, it is one.
import { host, inngest } from "../host.mjs";

host(
  inngest.createFunction(
    { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.sendEvent("tell", {
        id: `charged-${event.data.placementId}`,
        name: "crm/placement.charged",
        data: { placementId: event.data.placementId },
      });
      await step.sleep("cool-off", "1h");
    },
  ),
);
