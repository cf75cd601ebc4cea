// Messages, as they are put into an outbox and as they come out of it.
import { createHash } from "node:crypto";
import { eventsToSend } from "../../engine/checked-events.ts";
import { errors } from "../../model/errors.ts";
import { toJson } from "../../model/json.ts";
import type { SentEvent } from "../../sdk/event-types.ts";
import type { NewEvent } from "../../store/ingest.ts";
import type { Row } from "../sql/operation.ts";
import { numberOf } from "../sql/operation.ts";

/** As `idem.send` takes it. Its name is the message's topic; its id, where it has one, the message's dedup key unless another is given. */
export type OutboxEvent = SentEvent<string, unknown>;

export interface OutboxMessage {
  /** The same on every try: the key to give to the destination, and the id for the consumer's inbox. */
  readonly id: string;
  readonly topic: string;
  readonly data: unknown;
  readonly event: OutboxEvent;
  readonly orderKey: string | null;
}

/** A message that is ours to hand on; `started` is the fence. */
export interface TakenMessage extends OutboxMessage {
  readonly seq: number;
  readonly started: number;
  readonly finished: number;
  /** Since its first try began. */
  readonly triedForMs: number;
}

// A longer key is data that went to the wrong place. PostgreSQL's index takes 2,700 bytes.
const keyLengthMax = 512;

export function checkKey(value: unknown, option: string): string {
  if (typeof value === "string" && value !== "" && value.length <= keyLengthMax) return value;
  const why = `it must be a text of 1 to ${keyLengthMax} characters`;
  throw errors.TOOLKIT_OPTION_INVALID({ call: "outbox.send", option, why });
}

/** An event's id may be longer than a key. */
export const keyOfId = (id: string): string =>
  id.length <= keyLengthMax ? id : `sha256:${createHash("sha256").update(id).digest("hex")}`;

/** By the rules of `idem.send`: what it would refuse is refused while the transaction can still be undone. */
export function messagesOf(events: readonly OutboxEvent[], now: number): { event: NewEvent; text: string }[] {
  return eventsToSend(events, now).map((event, i) => ({ event, text: toJson(events[i], `Event "${event.name}"`) }));
}

export function takenOf(row: Row): TakenMessage {
  const event = JSON.parse(row.message as string) as OutboxEvent;
  return {
    id: row.id as string,
    topic: row.topic as string,
    data: event.data,
    event,
    orderKey: row.order_key as string | null,
    seq: numberOf(row.seq),
    started: numberOf(row.started),
    finished: numberOf(row.finished),
    triedForMs: numberOf(row.tried_for_ms),
  };
}
