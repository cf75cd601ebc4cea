// Stands in for Stripe: remembers what it was asked for, and answers a known key with its first invoice.
const invoices = new Map<string, { id: string }>();

export const stripe = {
  invoices: {
    async create(_: { customer: string }, { idempotencyKey }: { idempotencyKey: string }): Promise<{ id: string }> {
      const first = invoices.get(idempotencyKey) ?? { id: `in_${invoices.size + 1}` };
      invoices.set(idempotencyKey, first);
      return first;
    },
    count: () => invoices.size,
  },
};
