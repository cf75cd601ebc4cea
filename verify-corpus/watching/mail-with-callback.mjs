import { Idem } from "idem";
import { createTransport } from "nodemailer";

const idem = new Idem({ id: "corpus" });
const transport = createTransport({ pool: true, host: "smtp.example.com", port: 465, secure: true });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const mail = { from: "office@example.com", to: event.data.email, subject: "Your placement", text: "It is done." };
    await step.run("send-mail", async ({ key }) => {
      await new Promise((resolve, reject) => {
        // ✗ DOUBLED
        transport.sendMail(mail, (error, { messageId } = {}) => {
          if (error !== null) return reject(error);
          // What the callback does is the step's, too.
          const body = JSON.stringify({
            messageId: messageId === undefined ? 0 : 1,
            placement: event.data.placementId,
          });
          fetch("https://crm.example/sent", { method: "POST", headers: { "idempotency-key": key }, body }).then(
            resolve,
            reject,
          );
        });
      });
    });
  },
);
