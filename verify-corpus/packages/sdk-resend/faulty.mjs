import { Idem } from "idem";
import { Resend } from "resend";

const idem = new Idem({ id: "corpus" });
const resend = new Resend("re_placeholder");

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-mail", async () => {
      // ✗ DOUBLED
      const { error } = await resend.emails.send({
        from: "office@example.com",
        to: event.data.email,
        subject: "Your placement",
        text: "It is done.",
      });
      if (error !== null) throw new Error(error.message);
    });
  },
);
