import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction({ id: "draft-invoice" }, { event: "cart/paid" }, async ({ event, step }) => {
  // ✗ DOUBLED
  await step.sendEvent("announce", { name: "cart/checkout.completed", data: { cartId: event.data.cartId } });
});
