import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const invoice = await step.run("create-invoice", async ({ key }) => {
      const created = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ customer: event.data.clientId }),
      });
      if (!created.ok) throw new Error(`answered ${created.status}`);
      return created.json();
    });
    await step.run("send-invoice", async ({ key }) => {
      const sent = await fetch(`https://api.stripe.com/v1/invoices/${invoice.id}/send`, {
        method: "POST",
        headers: { "idempotency-key": key },
      });
      if (!sent.ok) throw new Error(`answered ${sent.status}`);
    });
  },
);
