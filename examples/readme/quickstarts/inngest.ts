// docs/quickstarts/inngest.md

// #region embedded
import { Idem, NonRetriableError } from "idem";

const inngest = new Idem({ id: "shop" }); // was: new Inngest({ id: "shop" })

inngest.createFunction(
  { id: "charge", idempotency: "event.data.orderId", retries: 3 },
  { event: "order/paid" },
  async ({ event, step }) => {
    if (event.data.total <= 0) throw new NonRetriableError("nothing to charge");
    const charge = await step.run("charge-card", ({ key }) => pay(event.data.orderId, key)); // the key is new
    await step.sleep("cool-off", "1h");
    return charge;
  },
);

await inngest.start(); // was: serve({ client, functions })
// #endregion

declare function pay(order: string, key: string): Promise<{ id: string }>;
