// Payloads inside an answer: small ones are there, large ones are left out and have an address of their own. A run may keep
// 32 MB of outcomes; the page that shows it wants the one step a person clicked on.
import { z } from "zod";
import { fromJson } from "../../model/json.ts";
import type { SerializedError } from "../../model/user-errors.ts";

const inlineBytesMax = 64 * 1024;
const answerBytesMax = 1024 * 1024;

export const payloadSchema = z.object({
  value: z.unknown().describe("The value; null when it is omitted"),
  bytes: z.number().int().describe("Size of its stored JSON text"),
  isOmitted: z.boolean().describe("Too large to stand here: read it at its own address"),
});

type Payload = z.infer<typeof payloadSchema>;

export const errorSchema = z.looseObject({
  name: z.string(),
  message: z.string(),
  stack: z.string().exactOptional(),
  code: z.string().exactOptional(),
  cause: z.unknown().exactOptional(),
});
type ErrorItem = z.infer<typeof errorSchema>;

// The part of an error's message that a list shows, which has no room for its stack.
const messageCharsMax = 200;

/** One answer's share: what is shown first is shown whole. */
export class PayloadBudget {
  private left = answerBytesMax;

  show(json: string): Payload {
    const bytes = Buffer.byteLength(json);
    if (bytes > inlineBytesMax || bytes > this.left) return { value: null, bytes, isOmitted: true };
    this.left -= bytes;
    return { value: fromJson(json), bytes, isOmitted: false };
  }

  /** An error is never left out; beyond the share it is its name and the beginning of its message. */
  showError(error: SerializedError): ErrorItem {
    const bytes = Buffer.byteLength(JSON.stringify(error));
    if (bytes > this.left) return { name: error.name, message: error.message.slice(0, messageCharsMax) };
    this.left -= bytes;
    return { ...error };
  }
}

/** Stored text as it is, byte for byte: no number in it is rounded on the way. */
export const storedJson = (text: string) => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: text,
});
