// Fields that providers' own SDKs require in an answer, where an echo of the request would be refused. Pure.
import { createHash } from "node:crypto";
import type { Json } from "./thing.ts";

type Fields = { readonly [name: string]: Json };

const md5 = (text: Json | undefined): string =>
  createHash("md5")
    .update(typeof text === "string" ? text : "")
    .digest("hex");

/** The operation an AWS service is asked for by its JSON protocol: "SendMessage" of "AmazonSQS.SendMessage". */
export const awsOperation = (headers: Readonly<Record<string, string>>): string | null =>
  headers["x-amz-target"]?.split(".").at(-1) ?? null;

/** Whether an operation of AWS only asks. */
export const isAwsRead = (operation: string): boolean =>
  /^(Get|List|Describe|Head|Query|Scan|BatchGet)/.test(operation);

/** The answer to a token request (RFC 6749, 5.1). */
export const grantedToken: Fields = { access_token: "token_made_1", token_type: "Bearer", expires_in: 3_600 };

/** SES's second API is named by its path. */
const sesMails = "v2/email/outbound-emails";

/** Fields that the answer to this request has beside what an echo gives; null where nothing is known. */
export function providerFields(operation: string | null, path: string, body: Json, id: string): Fields | null {
  const asked = (body ?? {}) as Fields;
  if (path === sesMails) return { MessageId: id };
  switch (operation) {
    case "SendMessage":
      return { MessageId: id, MD5OfMessageBody: md5(asked.MessageBody) };
    case "SendMessageBatch": {
      const entries = (Array.isArray(asked.Entries) ? asked.Entries : []) as readonly Fields[];
      const Successful = entries.map((each, i) => ({
        Id: each.Id ?? String(i),
        MessageId: `${id}_${i + 1}`,
        MD5OfMessageBody: md5(each.MessageBody),
      }));
      return { Successful, Failed: [] };
    }
    default:
      return null;
  }
}
