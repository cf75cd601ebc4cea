import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ step }) => {
    await step.run("mail-all", async () => {
      for (const name of ["ann", "bob"]) {
        // ✗ DOUBLED
        const answer = await fetch("https://api.resend.com/emails", {
          method: "POST",
          body: JSON.stringify({ to: `${name}@example.com` }),
        });
        if (!answer.ok) throw new Error(`answered ${answer.status}`);
      }
    });
  },
);
