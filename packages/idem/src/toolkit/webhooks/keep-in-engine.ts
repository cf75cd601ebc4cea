// Deliveries as events of the engine: claim, event and the start of runs are one commit, and a second delivery is a duplicate of the first.
import { businessKeyHash, businessKeyText } from "./business-key.ts";
import { textOf, writtenOf } from "./payload.ts";
import { type Sender, sendOnce, unsendable } from "./send-once.ts";
import type { Kept, WebhookStorage } from "./storage.ts";
import type { Received, WebhookEvent } from "./webhook-event.ts";

export interface TransformedEvent {
  /** `<source>/<type>` by default. */
  readonly name?: string;
  readonly data: object;
  /** The delivery's by default. */
  readonly id?: string;
  readonly ts?: number;
}

export type Transform<Payload> = (
  payload: Payload,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
) => TransformedEvent | null;

export interface KeepInEngine extends Sender {
  /** Ids are unique within it. */
  readonly source: string;
  /** Prefix of the events' names; the source by default. */
  readonly names?: string;
  readonly transform: Transform<unknown> | undefined;
  readonly businessKey: ((event: WebhookEvent<unknown>) => readonly (string | number | null | undefined)[]) | undefined;
}

export function keepInEngine(options: KeepInEngine): WebhookStorage {
  const { source, names = source, transform, businessKey } = options;
  return {
    async keep(received): Promise<Kept> {
      const { event, delivery } = received;
      if (event === null) return quarantine(options, source, received, received.why ?? "it cannot be read");
      let made: TransformedEvent | null;
      let key: string;
      try {
        made = transform === undefined ? { data: dataOf(event) } : transformed(transform, received, event);
        const same = businessKey?.(event);
        key = same === undefined ? (made?.id ?? event.id) : `key-${businessKeyHash(businessKeyText(same))}`;
      } catch (error) {
        return quarantine(options, source, received, error instanceof Error ? error.message : String(error));
      }
      if (made === null) return { kind: "ignored" };
      const raw = transform === undefined ? {} : { raw: rawOf(delivery.bytes) };
      const meta = { webhook: { source, id: event.id, type: event.type, digest: received.digest, ...raw } };
      const { name = `${names}/${event.type}`, data, ts = event.at } = made;
      try {
        const sent = await sendOnce(options, { id: `${source}:${key}`, name, data, ts, meta });
        if (sent.kind === "fresh") return sent;
        // Under a business key another body is expected.
        return { kind: "duplicate", isConflicting: businessKey === undefined && sent.isConflicting };
      } catch (error) {
        const why = unsendable(error);
        if (why === null) throw error;
        return quarantine(options, source, received, why);
      }
    },
  };
}

function transformed(
  transform: Transform<unknown>,
  { delivery }: Received,
  { payload }: WebhookEvent,
): TransformedEvent | null {
  const headers = Object.fromEntries(delivery.headers);
  const query = Object.fromEntries(new URL(delivery.url).searchParams);
  const made: unknown = transform(payload, headers, query);
  if (made === null) return null;
  if (typeof made !== "object" || typeof (made as TransformedEvent).data !== "object") {
    throw new Error("transform gave neither null nor an object with data; it must not be async");
  }
  return made as TransformedEvent;
}

/** The data of an event is an object; what is none is put into one. */
export function dataOf({ payload }: Pick<WebhookEvent, "payload">): object {
  const written = writtenOf(payload);
  return typeof written === "object" && written !== null && !Array.isArray(written) ? written : { payload: written };
}

/** Kept for a person, under a name of its own: functions that trust their payload never see it. */
export async function quarantine(
  sender: Sender,
  source: string,
  { delivery, digest }: Received,
  why: string,
): Promise<Kept> {
  const event = {
    id: `${source}:quarantined-${digest}`,
    name: `${source}/quarantined`,
    data: { why, raw: rawOf(delivery.bytes), contentType: delivery.headers.get("content-type") },
    ts: null,
  };
  try {
    const sent = await sendOnce(sender, event);
    return sent.kind === "fresh" ? { kind: "quarantined", why } : { kind: "duplicate", isConflicting: false };
  } catch (error) {
    if (unsendable(error) === null) throw error;
    return { kind: "too-large" };
  }
}

function rawOf(bytes: Uint8Array): { readonly text: string } | { readonly base64: string } {
  try {
    return { text: textOf(bytes) };
  } catch {
    return { base64: Buffer.from(bytes).toString("base64") };
  }
}
