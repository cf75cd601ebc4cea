// An ordinary app of the inngest package. Nothing in it knows of Idem: INNGEST_DEV says where the server is.
import { createServer } from "node:http";
import { Inngest } from "inngest";
import { serve } from "inngest/node";

const inngest = new Inngest({ id: "shop" });

const draftInvoice = inngest.createFunction(
  {
    id: "draft-invoice",
    retries: 3,
    idempotency: "event.data.placementId",
    concurrency: { limit: 5 },
    triggers: [{ event: "bullhorn/placement.event" }],
  },
  async ({ event, step }) => {
    const draft = await step.run("create-stripe-draft", () => {
      console.log(`  the app creates a draft for placement ${event.data.placementId}`);
      return { id: `in_${event.data.placementId}` };
    });
    await step.sleep("cool-off", "1s");
    return step.run("send", () => ({ sent: draft.id }));
  },
);

const weeklyStatement = inngest.createFunction(
  { id: "weekly-statement", triggers: [{ cron: "TZ=Europe/London 0 9 * * 1" }] },
  ({ step }) => step.run("write-statement", () => console.log("  the app writes the week's statement")),
);

const server = createServer(serve({ client: inngest, functions: [draftInvoice, weeklyStatement] }));
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => {
  // For whoever started this process and wants to know where it listens.
  process.send?.({ url: `http://127.0.0.1:${server.address().port}/api/inngest` });
});

// Bullhorn fires INSERTED, and a second later UPDATED, for one placement.
process.on("message", async (message) => {
  if (message !== "fire") return;
  for (const kind of ["INSERTED", "UPDATED"]) {
    await inngest.send({ name: "bullhorn/placement.event", data: { placementId: 7, kind } });
    console.log(`  the app sends ${kind} for placement 7`);
  }
  process.send({ fired: true });
});
