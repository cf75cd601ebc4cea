// Starting one function by its name, from outside: past its triggers and their filters. Its key and its pause count
// as for any event, and an id makes a second asking the same as the first.

import { acceptEvent } from "../ingest/accept-events.ts";
import { openRun } from "../ingest/open-runs.ts";
import { errors } from "../model/errors.ts";
import { payloadOf } from "../model/event.ts";
import { noteInvoked } from "../protocol/invoked-event.ts";
import type { NewEvent } from "../store/ingest.ts";
import { limits } from "./limits.ts";
import type { pairsFor } from "./prepare-ingest.ts";

/** The event such a run is started with, whatever name the caller gave. */
export function eventToInvoke(
  idOrSlug: string,
  input: unknown,
  facts: { readonly eventId: string; readonly now: number; readonly windowMs: number },
): NewEvent {
  const where = `The event for function "${idOrSlug}"`;
  const given =
    typeof input === "object" && input !== null && !Array.isArray(input)
      ? { ...input, name: "inngest/function.invoked" }
      : input;
  const event = acceptEvent(given, where, { ...facts, sourceRunId: null, allowReserved: true }, limits);
  return noteInvoked(event, { fn_id: idOrSlug });
}

/** Instead of every function whose trigger names the event, this one. Throws FUNCTION_UNKNOWN. */
export const pairsOfInvoked =
  (idOrSlug: string): typeof pairsFor =>
  (events, options, runIds, leaseFor) => {
    const target = options.registry.find(idOrSlug);
    if (target === null) throw errors.FUNCTION_UNKNOWN({ function: idOrSlug });
    return events.map((event, i) =>
      openRun(
        target,
        [],
        {
          event: i,
          payload: payloadOf(event),
          written: event,
          eventId: event.id,
          invokedBy: null,
          runId: runIds.of(event.id, target.fn),
          env: options.env,
          now: options.now,
          leaseTo: leaseFor(target),
        },
        options.expressions,
      ),
    );
  };
