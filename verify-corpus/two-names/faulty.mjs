import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice" },
  [{ event: "bullhorn/placement.inserted" }, { event: "bullhorn/placement.updated" }],
  async ({ event, step }) => {
    const placement = await step.run("fetch-placement", async () => {
      const found = await fetch(`https://crm.example/placements/${event.data.placementId}`);
      return found.json();
    });
    const draft = await step.run("create-stripe-draft", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        body: JSON.stringify({ customer: event.data.clientId, metadata: { placementId: placement.id } }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      return answer.json();
    });
    await step.run("queue-for-approval", async () => {
      const answer = await fetch(`https://api.agency.example/approvals/${draft.id}`, {
        method: "PUT",
        body: JSON.stringify({ placement: placement.id, state: "pending" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
