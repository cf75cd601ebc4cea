// An event sent under an id, and whether it was the first.
import { IdemError } from "../../model/errors.ts";
import { canonicalJson } from "../../model/json.ts";
import type { Platform } from "../../platform/platform.ts";
import type { EventsApi } from "../../sdk/reads-api.ts";
import type { SendResult } from "../../sdk/send-result.ts";

export interface EventOnce {
  readonly id: string;
  readonly name: string;
  readonly data: object;
  readonly ts: number | null;
  readonly meta?: unknown;
}

export type SentOnce = { readonly kind: "fresh" } | { readonly kind: "duplicate"; readonly isConflicting: boolean };

// Before this a time is a mistake of unit, and the engine would refuse the event for it.
const tsMin = Date.UTC(1980, 0, 1);

/** An event of the future would wait for it: when something happened, only the past can say. */
export const pastOf = (ts: number | null, now: number): { readonly ts?: number } =>
  ts !== null && Number.isInteger(ts) && ts >= tsMin && ts <= now ? { ts } : {};

/** Where deliveries go: a client's, or those of a server's engine. */
export interface SendingClient {
  send(
    event: { readonly name: string; readonly id: string; readonly data: object },
    options: { readonly window: number; readonly isShared?: boolean | undefined },
  ): Promise<SendResult>;
  readonly get: EventsApi["get"];
}

/** The client, and how long an id stays taken. */
export interface Sender {
  readonly deliveries: SendingClient;
  readonly windowMs: number;
  /** At a server, others may send under the names of these deliveries. */
  readonly isShared?: boolean | undefined;
  readonly platform: Pick<Platform, "wallMs">;
}

export async function sendOnce(
  { deliveries, windowMs, isShared, platform }: Sender,
  event: EventOnce,
): Promise<SentOnce> {
  const { ts, ...rest } = event;
  const when = pastOf(ts, platform.wallMs());
  const { ids, decisions } = await deliveries.send({ ...rest, ...when }, { window: windowMs, isShared });
  const duplicate = decisions.find(({ kind }) => kind === "duplicate-event");
  if (duplicate !== undefined) return { kind: "duplicate", isConflicting: duplicate.differs.length > 0 };
  if (decisions.length > 0) return { kind: "fresh" };
  // No function has a trigger for it, so nothing was decided; the stored event says who was first.
  const stored = await deliveries.get(ids[0]!);
  if (stored === null || stored.duplicateOf === null) return { kind: "fresh" };
  const first = await deliveries.get(stored.duplicateOf);
  const isSame = first !== null && canonicalJson(first.data) === canonicalJson(stored.data);
  return { kind: "duplicate", isConflicting: !isSame };
}

/** Why no store will ever take this event; null for what may pass. */
export function unsendable(error: unknown): string | null {
  if (!(error instanceof IdemError)) return null;
  return /^(EVENT_|VALUE_)/.test(error.code) ? error.message : null;
}
