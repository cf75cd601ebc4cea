import { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const credentials = { accessKeyId: "AKIAPLACEHOLDER", secretAccessKey: "placeholder" };
const ses = new SESv2Client({ region: "eu-central-1", credentials });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("send-mail", async () => {
      const Simple = { Subject: { Data: "Your placement" }, Body: { Text: { Data: "It is done." } } };
      const Destination = { ToAddresses: [event.data.email] };
      // ✗ DOUBLED
      const { MessageId } = await ses.send(
        new SendEmailCommand({ FromEmailAddress: "office@example.com", Destination, Content: { Simple } }),
      );
      return MessageId;
    });
  },
);
