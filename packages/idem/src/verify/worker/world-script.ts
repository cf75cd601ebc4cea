// The script of a world: the function, its events, and what the command knows of them.
import type { GivenAnswer, ModelRequest } from "../destination-model.ts";
import type { Change } from "../mends/change.ts";
import type { Json } from "../thing.ts";
import type { DatabasesScript } from "./sql/database-script.ts";

export interface DeliveredEvent {
  readonly name: string;
  readonly id: string;
  readonly data: Json;
}

export interface SecondEvent extends DeliveredEvent {
  readonly apartMs: number;
}

export interface WorldScript {
  readonly modules: readonly string[];
  readonly env: string;
  /** The function that is looked at, by its full name. */
  readonly fn: string;
  /** Names under which events are delivered: other functions do not receive them. */
  readonly names: readonly string[];
  /** The name of the event that stands for a tick or an invocation. */
  readonly tickName: string;
  readonly event: DeliveredEvent;
  readonly twin: DeliveredEvent | null;
  /** Another event that is the same thing, and how long after the first it came. */
  readonly second?: SecondEvent | null;
  /** The event's data with another value in this field. */
  readonly changed: Readonly<Record<string, Json>>;
  /** Of its key; without one, of an event's id. */
  readonly windowMs: number;
  /** Longer than any destination of this function remembers a key. */
  readonly outageMs: number;
  /** The world's clock at its beginning. */
  readonly startMs: number;
  readonly fixtures: readonly Fixture[];
  /** The data of what is waited for, by the event's or the signal's name. */
  readonly waits?: Readonly<Record<string, Json>>;
  /** Hosts that are really asked, and whose answers are recorded. */
  readonly recordFrom?: readonly string[];
  /** Absent where modules are only looked at. */
  readonly databases?: DatabasesScript;
  /** Played as if the function had been changed so. */
  readonly changes?: readonly Change[];
}

/** A destination's answer, in place of an echo. */
export interface Fixture extends GivenAnswer {
  readonly method: string;
  readonly host: string;
  /** Segments between slashes; "*" for any one. */
  readonly path: string;
}

export function fixtureFor(fixtures: readonly Fixture[], { method, url }: ModelRequest): GivenAnswer | null {
  const asked = url.pathname.split("/");
  const found = fixtures.find((each) => {
    if (each.method !== method || each.host !== url.host) return false;
    const segments = each.path.split("/");
    return segments.length === asked.length && segments.every((segment, i) => segment === "*" || segment === asked[i]);
  });
  return found ?? null;
}

/**
 * Turns of the event loop without anything happening after which a world is at rest: fewer where the engine says that it is idle, more where code waits for
 * the clock or stands still. A mocked request takes up to a dozen.
 */
export const restTurns = { idle: 4, busy: 30 } as const;
