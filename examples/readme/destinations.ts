// docs/destinations.md

// #region headers
import { destination, Idem } from "idem";

const idem = new Idem({ id: "shop" });
const orders = destination("paypal/orders");

idem.createFunction(
  { id: "order", idempotency: "event.data.cartId" },
  { event: "cart/paid" },
  async ({ event, step }) =>
    step.run("create", async (context) => {
      const answer = await fetch("https://api-m.paypal.com/v2/checkout/orders", {
        method: "POST",
        headers: { "content-type": "application/json", ...orders.headers(context) }, // PayPal-Request-Id: idem_…
        body: JSON.stringify(event.data.order),
      });
      if (!answer.ok) throw new Error(`PayPal answered ${answer.status}`);
      return (await answer.json()) as { id: string };
    }),
);
// #endregion

// #region field
const payment = (key: string, cents: number) => ({
  source_id: "cnon:card-nonce-ok",
  amount_money: { amount: cents, currency: "EUR" },
  ...destination("square").fields(key), // idempotency_key: "idem_…", at most 45 characters
});
// #endregion

// #region custom
const bank = destination({ name: "my-bank", header: "X-Request-Id", maxLength: 40, remembers: "2h" });

// #endregion

// #region guard
import { mayResend } from "idem";

const verdict = mayResend({
  destination: bank,
  firstTriedAt: Date.parse("2026-03-02T09:00:00Z"),
  now: Date.parse("2026-03-02T12:00:00Z"),
  hasReconcile: false,
}); // "park"

// #endregion

export { bank, idem, payment, verdict };
