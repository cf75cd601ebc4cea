import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: { key: "event.data.placementId", afterFailure: "release" } },
  { event: "crm/placement.made" },
  async ({ event, step, runId }) => {
    await step.run("charge", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.stripe.com/v1/charges", {
        method: "POST",
        headers: { "idempotency-key": runId },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("note", async () => {
      const answer = await fetch(`https://crm.example/placements/${event.data.placementId}`, {
        method: "PUT",
        body: JSON.stringify({ state: "charged" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
