// Express around it, axios in it, and a key.
import axios from "axios";
import express from "express";
import { Inngest } from "inngest";
import { serve } from "inngest/express";

const inngest = new Inngest({ id: "shop" });

const charge = inngest.createFunction(
  { id: "charge", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
  async ({ event, step }) => {
    await step.run("charge", async () => {
      await axios.post(
        "https://api.stripe.com/v1/charges",
        { placement: event.data.placementId },
        { headers: { "idempotency-key": `charge-${event.data.placementId}` } },
      );
    });
  },
);

const app = express();
app.use(express.json());
app.use("/api/inngest", serve({ client: inngest, functions: [charge] }));
app.listen(Number(process.env.PORT ?? 3000));
