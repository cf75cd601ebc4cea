// The endless stream of webhooks the worker receives, numbered: delivery n is the same in every life of the worker, so what
// one life sent without an answer the next life sends again. Of four deliveries one is new; the others are duplicates.
import { chanceOf } from "./chance.mjs";

export function deliveryOf(seed, n) {
  const newest = Math.floor(n / 4);
  switch (n % 4) {
    case 0:
      return { order: newest, event: event("order/paid", `order-${newest}`, newest, n) };
    case 1:
      // The same id under another name.
      return { order: newest, event: event("order/updated", `order-${newest}`, newest, n) };
    case 2:
      // The same key under another id.
      return { order: newest, event: event("order/updated", `again-${n}`, newest, n) };
    default: {
      // A late redelivery of any earlier order, by id or by key.
      const chance = chanceOf(seed, n);
      const order = Math.floor(chance() * (newest + 1));
      const id = chance() < 0.5 ? `order-${order}` : `late-${n}`;
      return { order, event: event("order/paid", id, order, n) };
    }
  }
}

const event = (name, id, order, delivery) => ({ name, id, data: { order, delivery } });
