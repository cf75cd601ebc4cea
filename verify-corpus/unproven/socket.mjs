import net from "node:net";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("work", async ({ key }) => {
      const socket = net.connect(1433, "10.0.0.4");
      socket.write(`${event.data.placementId} ${key}`);
    });
  },
);
