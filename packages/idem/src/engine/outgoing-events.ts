// The way out of every event, from a client or from a step: middleware that may replace it, then the schemas.
import type { Middleware } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";

/** Throws for an event that does not fit its schema. Null where there are none: nothing is waited for then. */
export type CheckEvents = ((events: readonly unknown[]) => Promise<void>) | null;

/** To be awaited where it is a promise. */
export function outgoingEvents(
  events: readonly unknown[],
  middleware: readonly Middleware[],
  check: CheckEvents,
): readonly unknown[] | Promise<readonly unknown[]> {
  return middleware.length === 0 && check === null ? events : throughAll(events, middleware, check);
}

async function throughAll(
  events: readonly unknown[],
  middleware: readonly Middleware[],
  check: CheckEvents,
): Promise<readonly unknown[]> {
  let given = events;
  for (const each of middleware) {
    given = (await each.onSend?.(given)) ?? given;
    if (!Array.isArray(given)) {
      throw errors.EVENT_INVALID({
        where: `What middleware ${each.name ?? ""} makes of the events`,
        why: "onSend must return a list of events",
      });
    }
  }
  if (check !== null) await check(given);
  return given;
}
