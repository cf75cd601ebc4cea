// Charges that are retried for longer than Stripe remembers: looked up where that can be done, parked where it cannot.
import { destination } from "idem";

// The real one remembers for 24 hours. Idem keeps a minute away from the end of any memory, so here a key may be sent again for 2 seconds.
export const memoryMs = 62_000;
// destination("stripe") knows the real one's 24 hours; this one has a memory of its own.
const stripeKeys = destination({ name: "fake-stripe", header: "Idempotency-Key", remembers: memoryMs });
// A customer's membership, or deposit, is due once a day at most, however often that is told.
const once = { idempotency: "event.data.customer" };
// 3 seconds are past the 2 in which this Stripe may be asked again; with the real one it would be the second day.
const patiently = { retries: 5, backoff: () => 3_000 };

export function chargeLater(idem, stripe) {
  const chargeFor = (event) => (context) =>
    stripe.charges.create({ ...event.data, metadata: { mark: context.key } }, { headers: context.headers });

  idem.createFunction(
    { id: "renew-membership", ...once, ...patiently },
    { event: "membership/due" },
    async ({ event, step }) =>
      step.effect(
        "charge",
        {
          destination: stripeKeys,
          entity: `membership-${event.data.customer}`,
          reconcileAfter: "1s",
          reconcile: async ({ key }) => {
            const [found] = await stripe.charges.markedWith(key);
            return found === undefined ? "absent" : { found };
          },
        },
        chargeFor(event),
      ),
  );
  idem.createFunction({ id: "pay-deposit", ...once, ...patiently }, { event: "deposit/due" }, async ({ event, step }) =>
    step.effect("charge", { destination: stripeKeys, entity: `deposit-${event.data.customer}` }, chargeFor(event)),
  );
}
