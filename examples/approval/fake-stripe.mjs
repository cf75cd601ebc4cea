// A Stripe that remembers keys, counts what it was asked, and loses one answer on the way.

export function fakeStripe({ losesAnswerFor }) {
  const invoices = new Map();
  const answered = new Map();
  let requests = 0;
  let lost = 0;
  const once = (idempotencyKey, make) => {
    requests++;
    if (!answered.has(idempotencyKey)) answered.set(idempotencyKey, make());
    return answered.get(idempotencyKey);
  };
  const end =
    (to) =>
    async (id, { idempotencyKey }) =>
      once(idempotencyKey, () => {
        const invoice = invoices.get(id);
        invoice[to] = (invoice[to] ?? 0) + 1;
        return { id, state: to };
      });
  return {
    invoices: {
      async create({ placementId, amount_due }, { idempotencyKey }) {
        const made = once(idempotencyKey, () => {
          const invoice = { id: `in_${invoices.size + 1}`, placementId, amount_due };
          invoices.set(invoice.id, invoice);
          return { id: invoice.id, placementId };
        });
        if (placementId === losesAnswerFor && lost === 0) {
          lost++;
          throw new Error("socket hang up");
        }
        return made;
      },
      send: end("sent"),
      void: end("voided"),
    },
    facts: () => ({ requests, lost, invoices: [...invoices.values()] }),
  };
}
