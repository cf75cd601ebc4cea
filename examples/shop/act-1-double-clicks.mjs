// Act 1: 20 customers press Pay two or three times at the same moment. One of Stripe's answers is lost on the way, and five customers have a
// second window open, with a key of its own.
import { createKey } from "idem/http";
import { clickPay } from "./click-pay.mjs";
import { line } from "./counts.mjs";

export async function doubleClicks(world) {
  const customers = world.customers(20);
  await world.plan({ [customers[0].customer]: "lose-answer" });
  const pressing = customers.map((customer, i) => {
    const clicks = Array.from({ length: 2 + (i % 2) }, () => clickPay(world, customer));
    return Promise.all(clicks);
  });
  const answers = await Promise.all(pressing);
  const all = answers.flat();
  const windows = customers.slice(0, 5).map((customer) => clickPay(world, { ...customer, key: createKey() }));
  const refused = (await Promise.all(windows)).filter(({ status }) => status === 409);
  const repeated = answers.flatMap(([first, ...others]) => others.map((other) => ({ first, other })));
  const isSame = ({ first, other }) => other.status === 201 && other.body === first.body;
  const differing = answers.filter((own) => new Set(own.map(({ body }) => body)).size > 1).length;
  const { charges, replayed } = await world.outside();
  return {
    clicks: all.length,
    replays: all.filter(({ isReplay }) => isReplay).length,
    example: { order: customers[0].id, body: answers[0][0].body, clicks: answers[0].length },
    lines: [
      line("customers who pressed Pay", 20, customers.length),
      line("charges at Stripe", 20, charges.length),
      line(
        "lost answers of Stripe's, asked for again by key",
        1,
        replayed.filter((customer) => customer === customers[0].customer).length,
      ),
      line("clicks answered with the first click's answer", 30, repeated.filter(isSame).length),
      line("customers who saw two different answers", 0, differing),
      line("second windows that were refused", 5, refused.length),
    ],
  };
}
