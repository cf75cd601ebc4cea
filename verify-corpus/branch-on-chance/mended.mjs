import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const variant = await step.run("choose", () => (Math.random() < 0.5 ? "blue" : "green"));
    await step.run(`mail-${variant}`, async () => {
      const answer = await fetch("https://api.resend.com/emails", {
        method: "POST",
        headers: { "idempotency-key": `mail-${event.data.placementId}` },
        body: JSON.stringify({ to: event.data.email }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
    await step.run("note", async ({ key }) => {
      const noted = await fetch(`https://crm.example/placements/${event.data.placementId}`, {
        method: "PUT",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ state: "mailed" }),
      });
      if (!noted.ok) throw new Error(`answered ${noted.status}`);
    });
  },
);
