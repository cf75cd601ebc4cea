import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const client = await step.run("look-up", async () => {
      const found = await fetch(`https://crm.example/clients/${event.data.clientId}`);
      const body = await found.json();
      if (body.error || body.deleted === true) throw new Error("no such client");
      return { ...body, plan: body.plan ?? "paid", tags: "tags" in body ? body.tags : [] };
    });
    if (client.plan === "free") return;
    const invoice = await step.run("create-invoice", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ customer: event.data.clientId, placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      return answer.json();
    });
    return { id: invoice.id, customer: invoice.customer, discount: invoice.discount?.percent };
  },
);
