import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "tell-team", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.effect(
      "tell",
      { destination: "slack", entity: `placement-${event.data.placementId}`, reconcile: () => "absent" },
      async () => {
        // ✗ DOUBLED
        const answer = await fetch("https://slack.com/api/chat.postMessage", {
          method: "POST",
          body: JSON.stringify({ channel: "#wins", text: `Placement ${event.data.placementId}` }),
        });
        if (!answer.ok) throw new Error(`answered ${answer.status}`);
      },
    );
    await step.run("receipt", async ({ key }) => {
      const answer = await fetch("https://api.resend.com/emails", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ to: event.data.email }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
