import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.cartId" },
  { event: "cart/paid" },
  async ({ event, step }) => {
    await step.sendEvent("announce", { name: "cart/checkout.completed", data: { cartId: event.data.cartId } });
    await step.run("close-cart", async () => {
      const answer = await fetch(`https://api.shop.example/carts/${event.data.cartId}`, {
        method: "PUT",
        body: JSON.stringify({ state: "closed" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
