// Bullhorn has no webhooks: events of a subscription are fetched, and a fetch consumes them.
import { refuseUnknown } from "../../../model/known-options.ts";
import type { CoalesceOptions } from "../coalesce.ts";
import type { WebhookEvent } from "../webhook-event.ts";

export interface BullhornEvent {
  readonly eventId: string;
  /** Milliseconds since 1970. */
  readonly eventTimestamp: number;
  readonly entityName: string;
  readonly entityId: number | string;
  readonly entityEventType: "INSERTED" | "UPDATED" | "DELETED";
  /** Of UPDATED. */
  readonly updatedProperties?: readonly string[] | null;
  /** Has a TRANSACTION_ID for entities that keep a history of edits. */
  readonly eventMetadata?: Readonly<Record<string, unknown>> | null;
}

export interface BullhornBatch {
  readonly requestId: number;
  readonly events: readonly BullhornEvent[];
}

/** Your session with Bullhorn's REST API, as far as it is needed. */
export interface BullhornClient {
  /**
   * GET /event/subscription/{subscription}?maxEvents=…: consumes the next events, null when there are none. With a request id (`&requestId=…`):
   * that batch again, null when the server no longer has it. Whatever else goes wrong is thrown, and tried again.
   */
  readonly fetch: (subscription: string, maxEvents: number, requestId?: number) => Promise<BullhornBatch | null>;
  /** GET /event/subscription/{subscription}/lastRequestId; null before the first fetch. */
  readonly lastRequestId: (subscription: string) => Promise<number | null>;
}

const transactionOf = ({ eventMetadata }: BullhornEvent): string | null => {
  const id = eventMetadata?.TRANSACTION_ID;
  return typeof id === "string" || typeof id === "number" ? String(id) : null;
};

export const webhookEventOf = (source: string, event: BullhornEvent): WebhookEvent<BullhornEvent> => ({
  source,
  id: String(event.eventId),
  type: `${event.entityName}.${event.entityEventType}`,
  subject: String(event.entityId),
  at: event.eventTimestamp,
  changed: event.updatedProperties ?? [],
  payload: event,
});

// Unread events are purged after this, so a twin that is later was lost.
const purgedAfterMs = 7 * 24 * 60 * 60 * 1_000;

/**
 * INSERTED and UPDATED of one save are one event. Whether both carry one transaction id is not promised, and differs between tenants: measure yours.
 *
 * ```ts
 * bullhornPoller({ client, subscription: "placements", into: idem, coalesce: bullhornCoalesce({ windowMs: 5_000 }) });
 * ```
 */
export function bullhornCoalesce(
  options: { readonly windowMs?: number; readonly expects?: number } = {},
): CoalesceOptions<BullhornEvent> {
  refuseUnknown<typeof options>("bullhornCoalesce", options, { windowMs: true, expects: true });
  const { windowMs = 5_000, expects } = options;
  return {
    key: ({ payload }) => [payload.entityName, payload.entityId, transactionOf(payload) ?? "-"],
    windowMs,
    ...(expects === undefined ? {} : { expects }),
    // A transaction names one change for good; without it only the window does.
    lateMs: ({ payload }) => (transactionOf(payload) === null ? windowMs : purgedAfterMs),
  };
}
