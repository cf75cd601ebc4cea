// Act 2: the shop dies at the worst moment. Stripe has charged, its answer is on the way, and nobody is there any more to receive it.
import { clickPay } from "./click-pay.mjs";
import { line } from "./counts.mjs";
import { until } from "./until.mjs";

export async function crash(world) {
  const before = await world.outside();
  const customers = world.customers(5);
  await world.plan(Object.fromEntries(customers.map(({ customer }) => [customer, "hold-answer"])));
  const paying = Promise.all(customers.map((customer) => clickPay(world, customer)));
  await until("five charges whose answer is on the way", async () => (await world.outside()).held === 5);
  const killed = await world.killShop();
  const { charges: atTheKill } = await world.outside();
  const paidAtTheKill = world.shop().paid;
  const started = await world.restartShop();
  const answers = await paying;
  const after = await world.outside();
  return {
    killed,
    started,
    chargedAtTheKill: atTheKill.length - before.charges.length,
    recordedAtTheKill: paidAtTheKill - before.charges.length,
    lines: [
      line("charged when the shop was killed", 5, atTheKill.length - before.charges.length),
      line("of those, recorded by the shop", 0, paidAtTheKill - before.charges.length),
      line("charges after everybody retried", 5, after.charges.length - before.charges.length),
      line(
        "asked again by the new shop, answered by key",
        5,
        customers.filter(({ customer }) => after.replayed.includes(customer)).length,
      ),
      line("customers who were answered 201", 5, answers.filter(({ status }) => status === 201).length),
    ],
  };
}
