// What is put into an outbox and what comes out of it.
import { errors } from "../../model/errors.ts";
import { toJson } from "../../model/json.ts";
import type { Row } from "../sql/operation.ts";
import { numberOf } from "../sql/operation.ts";

/** As `idem.send` takes it. Its name is the message's topic. */
export interface OutboxEvent {
  readonly name: string;
  readonly data?: unknown;
  /** Yours, where there is one: what Idem knows the event by, and the message's dedup key unless another is given. */
  readonly id?: string;
  readonly ts?: number;
  readonly v?: string;
  readonly user?: unknown;
  readonly meta?: unknown;
}

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

// A name, a key: longer ones are data that went to the wrong place. PostgreSQL's index takes 2,700 bytes.
const nameLengthMax = 512;

// A row is read, sent and kept whole. What is larger belongs in a file whose address is sent.
const messageBytesMax = 1024 * 1024;

export function checkName(value: unknown, option: string): string {
  if (typeof value === "string" && value !== "" && value.length <= nameLengthMax) return value;
  const why = `it must be a text of 1 to ${nameLengthMax} characters`;
  throw errors.TOOLKIT_OPTION_INVALID({ call: "outbox.send", option, why });
}

export function messageText(event: OutboxEvent): string {
  const where = `Event "${checkName(event?.name, "name")}"`;
  if (event.id !== undefined) checkName(event.id, "id");
  const text = toJson(event, where);
  const bytes = Buffer.byteLength(text);
  if (bytes > messageBytesMax) throw errors.EVENT_TOO_LARGE({ where, bytes, max: messageBytesMax });
  return text;
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
