import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ step }) => {
    for (const name of ["ann", "bob"]) {
      await step.run(`mail-${name}`, async ({ key }) => {
        const answer = await fetch("https://api.resend.com/emails", {
          method: "POST",
          headers: { "idempotency-key": key },
          body: JSON.stringify({ to: `${name}@example.com` }),
        });
        if (!answer.ok) throw new Error(`answered ${answer.status}`);
      });
    }
  },
);
