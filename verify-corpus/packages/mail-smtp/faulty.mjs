import { Idem } from "idem";
import { createTransport } from "nodemailer";

const idem = new Idem({ id: "corpus" });
const transport = createTransport({
  host: "smtp.example.com",
  port: 587,
  auth: { user: "office", pass: "placeholder" },
});

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-mail", async () => {
      // ✗ DOUBLED
      await transport.sendMail({
        from: "office@example.com",
        to: event.data.email,
        subject: `Placement ${event.data.placementId}`,
        text: "It is done.",
      });
    });
  },
);
