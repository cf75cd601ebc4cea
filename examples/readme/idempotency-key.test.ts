// What docs/idempotency-key.md says its examples do, they do.
import { expect, test } from "vitest";

test("a charge that is asked for twice is made once, and both askers have its id", async () => {
  process.env.SHOP_DB = ":memory:";
  const { charge, invite, keys, stripe } = await import("./idempotency-key.ts");
  const ask = (key: string, body: unknown) =>
    new Request("http://shop.test/charges", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key, "x-account": "acc_1" },
      body: JSON.stringify(body),
    });
  const first = await charge(ask("order-7", { amount: 100 }));
  const second = await charge(ask("order-7", { amount: 100 }));
  expect([first.status, await first.json()]).toEqual([201, { id: "ch_1" }]);
  expect([second.status, await second.json()]).toEqual([201, { id: "ch_1" }]);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect((await charge(ask("order-7", { amount: 200 }))).status).toBe(422);
  expect(stripe.charges).toHaveLength(1);

  await invite(ask("invite-1", { to: "a@shop.test", sentAt: 1 }));
  const again = await invite(ask("invite-1", { to: "a@shop.test", sentAt: 2 }));
  expect(await again.json()).toEqual({ id: "inv_1", token: null });
  keys.stop();
});
