import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.cartId" },
  { event: "cart/paid" },
  async ({ event, step }) => {
    await step.run("announce", async () => {
      // ✗ DOUBLED
      await idem.send({
        id: `checkout-${Date.now()}`,
        name: "cart/checkout.completed",
        data: { cartId: event.data.cartId },
      });
    });
  },
);
