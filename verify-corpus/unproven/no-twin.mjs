import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "refresh", idempotency: "event.data.shelves" },
  { event: "shop/refreshed" },
  async ({ event, step }) => {
    await step.run("refresh", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/refreshes", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ shelves: event.data.shelves }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
