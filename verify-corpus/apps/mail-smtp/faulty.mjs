// SMTP takes no key: handed over and not heard of, the mail is handed over again.
import { createTransport } from "nodemailer";
import { host, inngest } from "../host.mjs";

const transport = createTransport({
  host: "smtp.example.com",
  port: 587,
  auth: { user: "office", pass: "placeholder" },
});

host(
  inngest.createFunction(
    { id: "invoice", idempotency: "event.data.placementId", triggers: [{ event: "crm/placement.made" }] },
    async ({ event, step }) => {
      await step.run("send-mail", async () => {
        // ✗ DOUBLED
        await transport.sendMail({
          from: "office@example.com",
          to: "ann@example.com",
          subject: `Placement ${event.data.placementId}`,
          text: "It is done.",
        });
      });
    },
  ),
);
