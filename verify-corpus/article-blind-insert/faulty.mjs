import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.userId" },
  { event: "user/upgraded" },
  async ({ event, step }) => {
    await step.run("create-subscription", async () => {
      // ✗ DOUBLED
      const answer = await fetch("https://api.shop.example/subscriptions", {
        method: "POST",
        body: JSON.stringify({ user: event.data.userId, plan: event.data.plan }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
