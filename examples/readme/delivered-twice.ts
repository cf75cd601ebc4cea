// #region delivered-twice
import { deliverTwice, testIdem } from "idem/testing";

const { idem, clock } = testIdem(); // a store in memory, a clock that moves when told
idem.createFunction({ id: "confirm", idempotency: "event.data.cartId" }, { event: "cart/paid" }, async ({ step }) =>
  step.run("mail", () => "sent"),
);
await idem.start();

const cart = { name: "cart/paid", data: { cartId: 1 } };
const { started, suppressed } = await deliverTwice(idem, cart, { how: "at-once" });
// started: one run · suppressed: one decision that names it

await clock.advance("25h"); // the window is over: the same key starts again

// #endregion

export { cart, idem, started, suppressed };
