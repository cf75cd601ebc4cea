import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const all = ["ann", "bob", "cem"].sort(() => Math.random() - 0.5);
    for (const [i, name] of all.entries()) {
      await step.run(`mail-${i}`, async () => {
        // ✗ HALF
        const answer = await fetch(`https://crm.example/greetings/${event.data.placementId}-${name}`, {
          method: "PUT",
          body: JSON.stringify({ to: `${name}@example.com` }),
        });
        if (!answer.ok) throw new Error(`answered ${answer.status}`);
      });
    }
  },
);
