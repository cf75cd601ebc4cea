// One line of the table at the end: what it must be, and what it was.
export const line = (what, expected, seen) => ({ what, expected, seen });

/** How many of these have company: two charges of one order, two mails to one address. */
export function doubled(things, nameOf) {
  const counts = new Map();
  for (const thing of things) counts.set(nameOf(thing), (counts.get(nameOf(thing)) ?? 0) + 1);
  return [...counts.values()].filter((count) => count > 1).length;
}

/** At the very end, when whatever came late has come. */
export async function inAll(world) {
  const orders = world.orders().length;
  const { charges, mails } = await world.outside();
  const { paid, shipments, shippedTwice } = world.shop();
  const forOrders = charges.filter(({ metadata }) => metadata.order !== undefined);
  return [
    line("orders paid", orders, paid),
    line("charges for orders", orders, forOrders.length),
    line(
      "orders charged twice",
      0,
      doubled(forOrders, ({ metadata }) => metadata.order),
    ),
    line("shipments", orders, shipments),
    line("orders shipped twice", 0, shippedTwice),
    line("receipts", orders, mails.length),
  ];
}
