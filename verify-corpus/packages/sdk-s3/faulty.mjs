import { randomUUID } from "node:crypto";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { Idem } from "idem";

const idem = new Idem({ id: "corpus" });
const credentials = { accessKeyId: "AKIAPLACEHOLDER", secretAccessKey: "placeholder" };
const s3 = new S3Client({ region: "eu-central-1", credentials });

idem.createFunction(
  { id: "draft-invoice", idempotency: "event.data.placementId" },
  { event: "crm/placement.made" },
  async ({ event, step }) => {
    await step.run("store-invoice", async () => {
      const Key = `invoices/${randomUUID()}.json`;
      // ✗ DOUBLED
      await s3.send(
        new PutObjectCommand({
          Bucket: "placements",
          Key,
          Body: JSON.stringify({ placement: event.data.placementId }),
        }),
      );
      return Key;
    });
  },
);
