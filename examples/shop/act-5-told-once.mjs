// Act 5: who paid is told once. The order's event left the outbox once, and the receipt went out once, although the shop died while it was being sent.
import { clickPay } from "./click-pay.mjs";
import { doubled, line } from "./counts.mjs";
import { until } from "./until.mjs";

export async function toldOnce(world) {
  const customers = world.customers(5);
  await world.plan(Object.fromEntries(customers.map(({ email }) => [email, "hold-answer"])));
  await Promise.all(customers.map((customer) => clickPay(world, customer)));
  await until("five mails whose answer is on the way", async () => (await world.outside()).held === 5);
  const killed = await world.killShop();
  const started = await world.restartShop();

  const orders = world.orders().length;
  const runs = await until("every receipt mailed and noted", async () => {
    const all = await world.backOffice("/runs?function=mail-receipt");
    return all.length >= orders && all.every(({ state }) => state === "completed") && all;
  });
  await until("every order shipped", () => world.shop().shipments >= orders);
  const events = await world.backOffice("/events?name=order/paid");
  const { mails } = await world.outside();
  return {
    killed,
    started,
    lines: [
      line("events order/paid out of the outbox", orders, events.length),
      line("runs that mail a receipt", orders, runs.length),
      line("receipts mailed", orders, mails.length),
      line(
        "customers with two receipts",
        0,
        doubled(mails, ({ to }) => to),
      ),
    ],
  };
}
