import { SESv2Client, SendEmailCommand } from "@aws-sdk/client-sesv2";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const credentials = { accessKeyId: "AKIAPLACEHOLDER", secretAccessKey: "placeholder" };
// Left to itself the SDK sends again when an answer is lost: a second mail.
const ses = new SESv2Client({ region: "eu-central-1", credentials, maxAttempts: 1 });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.effect(
      "send-mail",
      {
        destination: "aws/ses",
        entity: `placement-${event.data.placementId}`,
        receipt: ({ MessageId }) => MessageId,
        // SES takes no key and lists no mails: whether one left that nobody was answered, a person has to say.
        reconcile: async () => "unknown",
      },
      async () => {
        const Simple = { Subject: { Data: "Your placement" }, Body: { Text: { Data: "It is done." } } };
        const Destination = { ToAddresses: [event.data.email] };
        const { MessageId } = await ses.send(
          new SendEmailCommand({ FromEmailAddress: "office@example.com", Destination, Content: { Simple } }),
        );
        return { MessageId };
      },
    );
  },
);
