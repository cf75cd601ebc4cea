import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const crm = process.env.CORPUS_CRM ?? "http://crm.example";

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const plan = await step.run("look-up", async () => {
      const answer = await fetch(`${crm}/clients/${event.data.clientId}`, {
        headers: { authorization: "Bearer placeholder" },
      });
      const client = await answer.json();
      if (client.plan === undefined) throw new Error("a client without a plan");
      return client.plan;
    });
    await step.run("create-invoice", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ plan, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
