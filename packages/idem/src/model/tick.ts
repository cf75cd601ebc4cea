// The event of a cron tick, by its name on the wire (docs/reference/wire.md#system-events).
import type { Event } from "./event.ts";
import { fromJson } from "./json.ts";

export const tickEventName = "inngest/scheduled.timer";

/** Instants as text. */
export interface TickData {
  readonly cron: string;
  readonly scheduledAt: string;
  /** Later than `scheduledAt` by its jitter. */
  readonly fireAt: string;
}

/** Null for an event that is none. Nobody else can send one: its name is reserved. */
export function tickOf({ name, data }: Pick<Event, "name" | "data">): TickData | null {
  return name === tickEventName ? (fromJson(data) as TickData) : null;
}
