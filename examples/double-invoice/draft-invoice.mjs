// The function of the story. Its body is the same in all three acts; what changes is one line of its options.

export function draftInvoice(idem, options, { bullhorn, stripe, approvals }) {
  return idem.createFunction(options, { event: "bullhorn/placement.event" }, async ({ event, step }) => {
    const placement = await step.run("fetch-placement", () => bullhorn.placements.get(event.data.placementId));

    // `key` is the destination key: the same whenever this step of this invoice is tried again.
    const draft = await step.run("create-stripe-draft", ({ key }) =>
      stripe.invoices.create(
        {
          customer: placement.clientStripeId,
          amount_due: placement.amountCents,
          days_until_due: 30,
          metadata: { placementId: placement.id },
        },
        { idempotencyKey: key },
      ),
    );

    await step.run("queue-for-approval", ({ key }) =>
      approvals.insert({ placementId: placement.id, stripeInvoiceId: draft.id }, { uniqueKey: key }),
    );
    return { placementId: placement.id, stripeInvoiceId: draft.id };
  });
}
