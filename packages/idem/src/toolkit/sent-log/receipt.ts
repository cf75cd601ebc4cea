// A provider's answer, as far as it says whether something was sent.
import { toJson } from "../../model/json.ts";
import { readBounded } from "../../platform/bounded-body.ts";

/**
 * Thrown by `send`: the provider said no, for certain, and sent nothing. Only for an answer that was received: a reset connection or a
 * timeout is never a refusal.
 *
 * ```ts
 * if (result.error?.statusCode === 422) throw new Refused(result.error.message);
 * ```
 */
export class Refused extends Error {
  override readonly name: string = "Refused";
}

/** Kept of a `Response` that `send` returned. */
export interface SentResponse {
  readonly status: number;
  readonly body: string;
}

export type ReceiptOf<T> = T extends Response ? SentResponse : T;

// The id of what was sent is in there; a page of HTML need not be kept.
const bodyBytesMax = 16 * 1024;

export type Answered =
  | { readonly kind: "sent"; readonly receipt: string; readonly mistake?: unknown }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string };

export async function answeredBy(value: unknown): Promise<Answered> {
  if (!(value instanceof Response)) {
    try {
      return { kind: "sent", receipt: toJson(value ?? null, "The receipt") };
    } catch (mistake) {
      return { kind: "sent", receipt: "null", mistake };
    }
  }
  const { status } = value;
  if (status >= 400 && status < 500) return { kind: "refused", reason: `HTTP ${status}` };
  if (!value.ok) return { kind: "unknown", reason: `HTTP ${status}` };
  // It was sent, whatever becomes of the rest of the answer.
  const body = await readBounded(value, bodyBytesMax).catch(() => "");
  return { kind: "sent", receipt: JSON.stringify({ status, body }) };
}
