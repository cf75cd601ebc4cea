// docs/verify.md
// #region verify-handlers
import { verifyEndpoint, verifyTick, verifyWebhook } from "idem/verify";
import { test } from "vitest";

const inModule = (file: string, name: string) => ({ module: new URL(file, import.meta.url), export: name });

test("a charge is made once for its key", async () => {
  const request = new Request("https://shop.example/charges", {
    method: "POST",
    headers: { "Idempotency-Key": "k1", "content-type": "application/json" },
    body: JSON.stringify({ orderId: "7", amount: 20 }),
  });
  (await verifyEndpoint(inModule("./charge.ts", "POST"), request)).assertHeld();
}, 120_000);

test("a paid invoice is booked once, however often Stripe says so", async () => {
  const body = { id: "evt_1", type: "invoice.paid", data: { object: { id: "in_7" } } };
  const sign = { provider: "stripe", secret: "whsec_test" } as const; // signed anew for each delivery, by the world's clock
  (await verifyWebhook(inModule("./stripe.ts", "POST"), { url: "/webhooks/stripe", body, sign })).assertHeld();
}, 120_000);

test("an hour's digest is sent once", async () => {
  const request = { method: "GET", url: "/api/digest" };
  (await verifyTick(inModule("./digest.ts", "GET"), { cron: "0 * * * *", request })).assertHeld();
}, 120_000);
// #endregion
