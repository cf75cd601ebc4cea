import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.userId" },
  { event: "user/upgraded" },
  async ({ event, step }) => {
    await step.run("ensure-subscription", async () => {
      const answer = await fetch(`https://api.shop.example/subscriptions/${event.data.userId}`, {
        method: "PUT",
        body: JSON.stringify({ plan: event.data.plan }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
