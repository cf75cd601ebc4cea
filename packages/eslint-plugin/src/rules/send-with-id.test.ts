import { tell } from "../cases.suite.ts";

tell("send-with-id", {
  right: {
    "an id of what happened":
      "await inngest.send({ id: `checkout-completed-${cartId}`, name: 'cart/checkout.completed', data: { cartId } });",
    "several things in the id":
      "await inngest.send({ id: `payment-${userId}-${paymentIntentId}`, name: 'payment/made', data: {} });",
    "an id the provider gave":
      "await inngest.send({ id: delivery.eventId, name: 'stripe/paid', data: {} }); await inngest.send({ id: evt.id, name: 'stripe/paid', data: {} });",
    "an event in one commit with its write": `await idem.send({ name: "order/placed", data: { id } }, { tx });`,
    "one whose functions, here, all have a key": `
      inngest.createFunction({ id: "a", idempotency: "event.data.cartId" }, { event: "cart/paid" }, async () => {});
      await inngest.send({ name: "cart/paid", data: { cartId } });`,
    "what is not written here": `await inngest.send(event); await inngest.send({ ...event, name: "a/b" });`,
    "somebody else's send": `import { Resend } from "resend"; await socket.send({ name: "a", data: 1 }); await outbox.send(tx, { name: "a/b", data: {} });`,
    "an event that a step sends": `inngest.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => { await step.sendEvent("tell", { name: "b/done", data: {} }); });`,
    "an account by its user":
      "await inngest.send({ id: `account-created-${userId}`, name: 'account/created', data: { userId } });",
  },
  wrong: {
    "an event without an id": {
      code: `await inngest.send({ name: "cart/checkout.completed", data: { cartId, email } });`,
      ids: ["missing"],
      mended:
        'await inngest.send({ id: `cart-checkout-completed-${cartId}`, name: "cart/checkout.completed", data: { cartId, email } });',
    },
    "one of several, and those made of a list": {
      code: `await inngest.send([{ id: "x-1", name: "a/b", data: {} }, { name: "a/b", data: {} }]);
        await inngest.send(carts.map((cart) => ({ name: "cart/paid", data: { cart } })));`,
      ids: ["missing", "missing"],
    },
    "one of a client that CommonJS brought": {
      code: `const { Inngest } = require("inngest"); const app = new Inngest({ id: "x" }); exports.go = () => app.send({ name: "a/b", data: {} });
        const idem_1 = require("idem"); const bus = new idem_1.Idem({ id: "y" }); exports.come = () => bus.send({ name: "a/b", data: {} });`,
      ids: ["missing", "missing"],
    },
    "one sent in a step": {
      code: `import { Idem } from "idem"; const app = new Idem({ id: "x" });
        app.createFunction({ id: "a" }, { event: "b/c" }, async ({ step }) => { await step.run("tell", () => app.send({ name: "b/done", data: {} })); });`,
      ids: ["missing"],
    },
    "an id that another event could have": {
      code: `await inngest.send({ id: cartId, name: "cart/checkout.completed", data: { cartId } });`,
      ids: ["bare"],
      mended:
        'await inngest.send({ id: `cart-checkout-completed-${cartId}`, name: "cart/checkout.completed", data: { cartId } });',
    },
    "an id that names only whose it is": {
      code: "await inngest.send({ id: `payment-${userId}`, name: 'payment/made', data: {} });",
      ids: ["wide"],
      says: "the second payment of one user is lost",
    },
  },
});
