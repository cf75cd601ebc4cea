// What every event passes on its way out, from a client or from a step: middleware that may replace it, then the schemas.
import type { Middleware } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";

/** Throws for an event that does not fit its schema. */
export type CheckEvents = (events: readonly unknown[]) => Promise<void>;

export async function outgoingEvents(
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
  await check(given);
  return given;
}
