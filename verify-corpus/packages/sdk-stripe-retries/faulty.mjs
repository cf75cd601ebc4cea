import { Idem } from "idem";
import Stripe from "stripe";

const idem = new Idem({ id: "corpus" });
const stripe = new Stripe("sk_test_placeholder", { maxNetworkRetries: 3 });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async () => {
      // The SDK retries and makes a key for that: a random one, which a process that takes over does not know.
      // ✗ DOUBLED
      const { id } = await stripe.invoices.create({ customer: event.data.clientId });
      return id;
    });
  },
);
