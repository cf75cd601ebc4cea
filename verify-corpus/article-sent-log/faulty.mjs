import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.contractId" },
  { event: "contract/signed" },
  async ({ event, step }) => {
    await step.run("notify", async () => {
      const found = await fetch(`https://api.shop.example/sent-notifications?contract=${event.data.contractId}`);
      if ((await found.json()).length > 0) return "already sent";
      // ✗ DOUBLED
      const answer = await fetch("https://api.postmarkapp.com/email", {
        method: "POST",
        body: JSON.stringify({ to: event.data.email, template: "contract-signed" }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      const logged = await fetch("https://api.shop.example/sent-notifications", {
        method: "POST",
        headers: { "idempotency-key": `log-${event.data.contractId}` },
        body: JSON.stringify({ contract: event.data.contractId }),
      });
      if (!logged.ok) throw new Error(`answered ${logged.status}`);
    });
  },
);
