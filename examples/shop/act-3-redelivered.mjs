// Act 3: Stripe delivers at least once. Everything comes a second time and the shop is killed in the middle of it; then it comes a third time.
import { line } from "./counts.mjs";
import { until } from "./until.mjs";

export async function redelivered(world) {
  const orders = world.orders().length;
  const told = (times) => async () => (await world.outside()).deliveries >= times * orders;
  await until("the first delivery of everything", told(1));
  await world.redeliver();
  await until("some of the second", async () => (await world.outside()).deliveries > orders + 3);
  const killed = await world.killShop();
  const started = await world.restartShop();
  await until("the second delivery of everything", told(2));
  await world.redeliver();
  await until("the third", told(3));
  // Somebody who found the address, but has no secret.
  const body = JSON.stringify({
    id: "evt_forged",
    type: "charge.succeeded",
    data: { object: { metadata: { order: "order-1" } } },
  });
  const headers = {
    "content-type": "application/json",
    "stripe-signature": `t=${Math.floor(Date.now() / 1_000)},v1=00`,
  };
  const forged = await fetch(`${world.url}/webhooks/stripe`, { method: "POST", headers, body });
  await until("every order shipped", () => world.shop().shipments >= orders);
  const runs = await world.backOffice("/runs?function=fulfil");
  const { deliveries, deliveriesFailed } = await world.outside();
  const { shipments, shippedTwice } = world.shop();
  return {
    killed,
    started,
    deliveries,
    deliveriesFailed,
    lines: [
      line("deliveries that were taken, 3 of each", 3 * orders, deliveries),
      line("runs that fulfil", orders, runs.length),
      line("shipments", orders, shipments),
      line("orders shipped twice", 0, shippedTwice),
      line("answer to a forged delivery", 401, forged.status),
    ],
  };
}
