// A Stripe small enough for one folder. It honours idempotency keys as the real one does: a second request with a key is
// answered with the first request's draft, from whichever process it comes.
import { createHash, randomUUID } from "node:crypto";
import { keepFirst, readKept } from "./keep-first.mjs";

export function fakeStripe(folder, effects, latency) {
  return {
    invoices: {
      async create(invoice, { idempotencyKey = randomUUID() } = {}) {
        const { placementId } = invoice.metadata;
        effects.write("entered", "create-stripe-draft", placementId);
        await latency(placementId);
        const id = `in_${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 10)}`;
        const { value, isFirst } = keepFirst(folder, idempotencyKey, { id, ...invoice });
        effects.write(isFirst ? "created" : "found", "create-stripe-draft", placementId);
        // The answer travels back. A process that dies here has a draft it never heard of.
        await latency(placementId);
        effects.write("left", "create-stripe-draft", placementId);
        return value;
      },
      list: () => readKept(folder),
    },
  };
}
