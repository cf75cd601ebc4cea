import { SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const credentials = { accessKeyId: "AKIAPLACEHOLDER", secretAccessKey: "placeholder" };
const sqs = new SQSClient({ region: "eu-central-1", credentials });
const QueueUrl = "https://sqs.eu-central-1.amazonaws.com/123456789012/placements.fifo";

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("enqueue", async () => {
      // ✗ DOUBLED
      const { MessageId } = await sqs.send(
        new SendMessageCommand({ QueueUrl, MessageBody: event.data.placementId, MessageGroupId: "placements" }),
      );
      return MessageId;
    });
  },
);
