import { Idem } from "idem";
import { Resend } from "resend";

const idem = new Idem({ id: "corpus" });
const resend = new Resend("re_placeholder");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-mail", async ({ key }) => {
      const mail = {
        from: "office@example.com",
        to: event.data.email,
        subject: "Your placement",
        text: "It is done.",
      };
      const { error } = await resend.emails.send(mail, { idempotencyKey: key });
      if (error !== null) throw new Error(error.message);
    });
  },
);
