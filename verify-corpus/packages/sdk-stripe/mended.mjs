import { Idem } from "idem";
import Stripe from "stripe";

const idem = new Idem({ id: "corpus" });
const stripe = new Stripe("sk_test_placeholder", { maxNetworkRetries: 0 });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      const { id } = await stripe.invoices.create({ customer: event.data.clientId }, { idempotencyKey: key });
      return id;
    });
  },
);
