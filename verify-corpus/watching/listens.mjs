import { once } from "node:events";
import { createServer } from "node:http";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const server = createServer((_, response) => response.end("nobody comes"));
server.listen(Number(process.env.CORPUS_PORT));
await once(server, "listening");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("create-invoice", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placement: event.data.placementId, port: server.address().port }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
      await new Promise((resolve) => createServer().listen(0, "127.0.0.1", resolve));
    });
  },
);
