// Deliveries as rows of the user's database: the id is claimed and the work is there in one commit, for a processor to take up.
import { createHash } from "node:crypto";
import { type Adapter, performWhole } from "../sql/adapter.ts";
import { type Dialect, type Operation, sqlOf } from "../sql/operation.ts";
import { readyTables } from "../sql/ready-tables.ts";
import { absorbEvent } from "./absorb-event.ts";
import { businessKeyHash, businessKeyText } from "./business-key.ts";
import { type Coalescing, mergedOf } from "./coalesce.ts";
import { textOf } from "./payload.ts";
import type { Kept, WebhookStorage } from "./storage.ts";
import type { Received, WebhookEvent } from "./webhook-event.ts";
import { type Inserted, insertEvent, type NewEvent } from "./webhook-rows.ts";

export interface KeepInDatabase {
  readonly adapter: Adapter<unknown>;
  readonly source: string;
  readonly windowMs: number;
  readonly businessKey: ((event: WebhookEvent<unknown>) => readonly (string | number | null | undefined)[]) | undefined;
  readonly coalesce: Coalescing | null;
}

export function keepInDatabase(options: KeepInDatabase): WebhookStorage {
  const { adapter } = options;
  return {
    async keep(received): Promise<Kept> {
      await readyTables(adapter, ["processed_webhook_events"]);
      let ask: KeepAsk;
      try {
        ask = askOf(options, received);
      } catch (error) {
        ask = quarantineAsk(options, received, error instanceof Error ? error.message : String(error));
      }
      const inserted = await performWhole(adapter, () => keepOperation(adapter.dialect, ask, options.coalesce));
      if (inserted.kind === "duplicate" || ask.why === null) return inserted;
      return { kind: "quarantined", why: ask.why };
    },
  };
}

export interface KeepAsk {
  readonly row: NewEvent;
  readonly event: WebhookEvent | null;
  /** Of a logical event, where the row is one of several that make it. */
  readonly key: { readonly text: string; readonly hash: string } | null;
  readonly why: string | null;
}

/** One transaction: the raw event's row and, where it is one of several, what carries it. */
export function* keepOperation(dialect: Dialect, ask: KeepAsk, coalesce: Coalescing | null): Operation<Inserted> {
  const inserted = yield* insertEvent(sqlOf(dialect), ask.row);
  if (inserted.kind === "duplicate" || coalesce === null || ask.event === null || ask.key === null) return inserted;
  yield* absorbEvent(
    dialect,
    {
      source: ask.row.source,
      id: ask.row.id,
      subject: ask.event.subject,
      digest: ask.row.digest,
      key: ask.key,
      merged: mergedOf(ask.event),
      payload: JSON.stringify(ask.event.payload),
      lateMs: coalesce.lateMsOf(ask.event),
      windowMs: ask.row.windowMs,
    },
    coalesce,
  );
  return inserted;
}

function askOf(options: KeepInDatabase, received: Received): KeepAsk {
  const { event, delivery, digest } = received;
  if (event === null) throw new Error(received.why ?? "it cannot be read");
  const payload = payloadText(event.payload, delivery.bytes);
  const same = options.businessKey?.(event);
  const id = same === undefined ? event.id : `key-${businessKeyHash(businessKeyText(same))}`;
  return {
    ...keepAskOf(options, { ...event, id }, payload.text),
    row: {
      source: options.source,
      id,
      type: event.type,
      subject: event.subject,
      // Under a business key another body is expected.
      digest: same === undefined ? digest : createHash("sha256").update(id).digest("hex"),
      payload: payload.text,
      body: payload.isBody ? null : delivery.bytes,
      at: event.at,
      windowMs: options.windowMs,
      state: options.coalesce === null ? "persisted" : "absorbed",
    },
  };
}

/** For events that were pulled, and so have no body of their own. */
export function keepAskOf(
  { source, windowMs, coalesce }: Pick<KeepInDatabase, "source" | "windowMs" | "coalesce">,
  event: WebhookEvent,
  payload: string,
): KeepAsk {
  return {
    event,
    key: coalesce === null ? null : coalesce.keyOf(event),
    why: null,
    row: {
      source,
      id: event.id,
      type: event.type,
      subject: event.subject,
      digest: createHash("sha256").update(payload).digest("hex"),
      payload,
      body: null,
      at: event.at,
      windowMs,
      state: coalesce === null ? "persisted" : "absorbed",
    },
  };
}

const quarantineAsk = (
  { source, windowMs }: KeepInDatabase,
  { delivery, digest }: Received,
  why: string,
): KeepAsk & { readonly why: string } => ({
  event: null,
  key: null,
  why,
  row: {
    source,
    id: `quarantined-${digest}`,
    type: "quarantined",
    subject: null,
    digest,
    payload: JSON.stringify({ why }),
    body: delivery.bytes,
    at: null,
    windowMs,
    state: "quarantined",
  },
});

/** A JSON body is kept to the letter: parsed and written again, 9007199254740993 would be another number. */
function payloadText(payload: unknown, bytes: Uint8Array): { readonly text: string; readonly isBody: boolean } {
  const text = JSON.stringify(payload);
  try {
    const body = textOf(bytes);
    if (JSON.stringify(JSON.parse(body)) === text) return { text: body, isBody: true };
  } catch {
    // A form.
  }
  return { text, isBody: false };
}
