import { Idem } from "idem";
import { createTransport } from "nodemailer";

const idem = new Idem({ id: "corpus" });
// One connection for all: the second mail is handed over by what the first one left.
const transport = createTransport({ pool: true, maxConnections: 1, host: "smtp.example.com", port: 587 });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    const subject = `Placement ${event.data.placementId}`;
    await Promise.all([
      step.run("to-client", () =>
        transport.sendMail({ from: "office@example.com", to: event.data.email, subject, text: "It is done." }),
      ),
      step.run("to-office", () =>
        // ✗ DOUBLED
        transport.sendMail({ from: "office@example.com", to: "office@example.com", subject, text: "It is done." }),
      ),
    ]);
  },
);
