// #region intro
import { Idem } from "idem";
// #pause
import { stripe } from "./stripe.ts";

// #resume

const idem = new Idem({ id: "shop" }); // store: sqlite:.idem/shop.db unless told otherwise

idem.createFunction(
  { id: "draft-invoice", retries: 3, idempotency: "event.data.placementId" },
  { event: "bullhorn/placement.event" },
  async ({ event, step }) => {
    const draft = await step.run("create-stripe-draft", ({ key }) =>
      stripe.invoices.create({ customer: event.data.client }, { idempotencyKey: key }),
    );
    await step.sleep("cool-off", "10m");
    return { draft: draft.id };
  },
);

await idem.start();
const event = { name: "bullhorn/placement.event", data: { placementId: 7, client: "cus_1" } };
const first = await idem.send(event);
const again = await idem.send(event); // Bullhorn fires INSERTED, and a second later UPDATED

first.decisions[0]; // { kind: "started", function: "draft-invoice", runId: "01M7…", key: "7", windowEndsAt: … }
again.decisions[0]; // { kind: "duplicate-key", runId: "01M7…" (the first run), reason: "key 7 is taken by run 01M7…" }

// #endregion

export { again, first, idem };
