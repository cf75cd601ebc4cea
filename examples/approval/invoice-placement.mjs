// The function: a placement becomes a draft, the draft an entry in the queue, and a person's decision an invoice that is sent or voided.
import { transitionSync } from "idem/toolkit";

export function invoicePlacement(idem, { bullhorn, stripe, queue }) {
  const { adapter } = queue;
  return idem.createFunction(
    // INSERTED and UPDATED of one placement are one run.
    { id: "invoice-placement", idempotency: "event.data.placementId", retries: 5, backoff: () => 50 },
    { event: "bullhorn/placement.event" },
    async ({ event, step }) => {
      const { placementId } = event.data;
      const placement = await step.run("fetch-placement", () => bullhorn.placements.get(placementId));
      const draft = await step.effect(
        "draft",
        { destination: "stripe", entity: `placement-${placementId}` },
        ({ key }) =>
          stripe.invoices.create({ placementId, amount_due: placement.amountCents }, { idempotencyKey: key }),
      );
      const entry = await step.transaction("queue", adapter, (tx) => queue.add(tx, { placementId, invoice: draft.id }));

      // First the wait, then the look: who decides after the look is heard, who decided before it is seen.
      const wait = { event: "invoice/decided", match: "data.placementId", timeout: "14d" };
      const heard = step.waitForEvent("decided", wait);
      const seen = await step.run("look", () => queue.get(entry.id));
      // Nobody in two weeks: it moves to expired, unless somebody was a moment faster.
      const decided =
        seen.state !== "pending"
          ? seen
          : ((await heard)?.data ??
            (await step.transaction("expire", adapter, (tx) => {
              const end = { table: "approval_queue", id: entry.id, from: "pending", to: "expired" };
              return transitionSync(adapter, tx, end).row;
            })));

      const end = { destination: "stripe", entity: `invoice-${draft.id}` };
      if (decided.state === "approved") {
        await step.effect("send", end, ({ key }) => stripe.invoices.send(draft.id, { idempotencyKey: key }));
      } else {
        await step.effect("void", end, ({ key }) => stripe.invoices.void(draft.id, { idempotencyKey: key }));
      }
      return { invoice: draft.id, state: decided.state, by: decided.decided_by };
    },
  );
}
