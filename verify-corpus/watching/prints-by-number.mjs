import fs from "node:fs";
import { promisify } from "node:util";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    // As loggers do: past the streams.
    fs.writeSync(1, `printed at once ${event.data.placementId}\n`);
    await promisify(fs.write)(1, Buffer.from("printed later\n"));
    fs.writeFileSync(2, "printed whole\n");
    await step.run("create-invoice", async ({ key }) => {
      const answer = await fetch("https://api.stripe.com/v1/invoices", {
        method: "POST",
        headers: { "idempotency-key": key },
        body: JSON.stringify({ placement: event.data.placementId }),
      });
      if (!answer.ok) throw new Error(`answered ${answer.status}`);
    });
  },
);
