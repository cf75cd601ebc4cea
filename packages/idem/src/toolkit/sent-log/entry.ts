// One row of the sent-log: a thing that was, or may have been, sent to somebody.
import { createHash } from "node:crypto";
import { fromJson } from "../../model/json.ts";
import { numberOf, numberOrNull, type Row } from "../sql/operation.ts";

export type SentState = "intent" | "sending" | "sent" | "refused" | "unknown" | "parked";

export interface SentEntry {
  readonly id: string;
  readonly template: string;
  readonly recipient: string;
  readonly about: string | null;
  readonly state: SentState;
  readonly generation: number;
  readonly fence: number;
  readonly attempts: number;
  /** By the database's clock, when it was read. */
  readonly leaseLeftMs: number;
  readonly sendingAt: number;
  /** How long it has not been known whether it was sent; null when it is. */
  readonly unknownForMs: number | null;
  readonly sentAt: number | null;
  readonly receipt: unknown;
  readonly reason: string | null;
}

export const entryColumns = (now: string): string =>
  `id, template, recipient, about, state, generation, fence, attempts, lease_until - ${now} as lease_left_ms,
   sending_at, ${now} - unknown_at as unknown_for_ms, sent_at, receipt, reason`;

export const entryOf = (row: Row): SentEntry => ({
  id: row.id as string,
  template: row.template as string,
  recipient: row.recipient as string,
  about: row.about as string | null,
  state: row.state as SentState,
  generation: numberOf(row.generation),
  fence: numberOf(row.fence),
  attempts: numberOf(row.attempts),
  leaseLeftMs: numberOf(row.lease_left_ms),
  sendingAt: numberOf(row.sending_at),
  unknownForMs: numberOrNull(row.unknown_for_ms),
  sentAt: numberOrNull(row.sent_at),
  receipt: row.receipt === null ? null : fromJson(row.receipt as string),
  reason: row.reason as string | null,
});

/** As a JSON list, so that no part can borrow characters from its neighbour. */
const hashOf = (...parts: readonly (string | number | null)[]) => createHash("sha256").update(JSON.stringify(parts));

export const entryId = (template: string, recipient: string, about: string | null): string =>
  hashOf("sent-log", template, recipient, about).digest("hex");

/** The same on every try of one window, another in the next: what a search at the provider is made by. */
export const tagOf = ({ id, generation }: Pick<SentEntry, "id" | "generation">): string =>
  `idem_${hashOf(id, generation).digest("base64url").slice(0, 40)}`;
