// A verified delivery, read: given to a handler, a merge or a business key.
import { createHash } from "node:crypto";
import type { Delivery, Particulars, WebhookProvider } from "./provider.ts";

export interface WebhookEvent<Payload = unknown> {
  readonly source: string;
  /** The provider's, or the SHA-256 of the body where it gives none. */
  readonly id: string;
  readonly type: string;
  readonly subject: string | null;
  /** When it happened, by the provider's word, in milliseconds. */
  readonly at: number | null;
  /** The names of what changed, where `normalise` gives them. */
  readonly changed: readonly string[];
  readonly payload: Payload;
}

/** Particulars an author knows better than the provider's recipe. Whatever is left out stays as the provider has it. */
export interface Normalised extends Partial<Particulars> {
  readonly changed?: readonly string[];
}

export interface Received {
  readonly delivery: Delivery;
  /** SHA-256 of the body, in hex. */
  readonly digest: string;
  /** Null: it is authentic, and nobody can read it. A retry cannot change that, so it is kept for a person. */
  readonly event: WebhookEvent | null;
  readonly why: string | null;
}

export type Normalise<Payload> = (payload: Payload, delivery: Delivery) => Normalised;

export function readDelivery(
  source: string,
  provider: WebhookProvider,
  delivery: Delivery,
  normalise: Normalise<unknown> | undefined,
): Received {
  const digest = createHash("sha256").update(delivery.bytes).digest("hex");
  try {
    const payload = provider.parse(delivery);
    const own = provider.read(delivery, payload);
    const told = normalise?.(payload, delivery) ?? {};
    const event: WebhookEvent = {
      source,
      id: checked("id", told.id ?? own.id) ?? `sha256-${digest}`,
      type: checked("type", told.type ?? own.type) ?? "event",
      subject: checked("subject", told.subject ?? own.subject),
      at: told.at ?? own.at,
      changed: told.changed ?? [],
      payload,
    };
    return { delivery, digest, event, why: null };
  } catch (error) {
    return { delivery, digest, event: null, why: error instanceof Error ? error.message : String(error) };
  }
}

function checked(name: string, value: string | null | undefined): string | null {
  if (value === null || value === undefined) return null;
  // PostgreSQL's text has no place for a NUL, and a log none for a line's end.
  if (typeof value !== "string" || value === "" || value.length > 512 || /[\p{Cc}\p{Cs}]/u.test(value)) {
    throw new Error(`its ${name} is not a text of 1 to 512 plain characters`);
  }
  return value;
}
