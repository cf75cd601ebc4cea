// The outcome of an event as a whole, from what was decided for it.
import { type Decision, type EventOutcome, isAnswered, isGatheredKind, isPending } from "./decision.ts";
import type { Event } from "./event.ts";
import { isOwnEvent } from "./own-events.ts";

type Told = Pick<Decision, "kind" | "runId">;

/** `decisions` are those of the function that is asked for, or all. */
export function hasOutcome(
  outcome: EventOutcome,
  { name, firstEventId }: Pick<Event, "name" | "firstEventId">,
  decisions: readonly Told[],
): boolean {
  const isAgain = firstEventId !== null;
  const isUnheard = !isAgain && decisions.length === 0;
  switch (outcome) {
    case "started":
      return decisions.some(({ kind, runId }) => kind === "started" || (isGatheredKind(kind) && runId !== null));
    case "nothing":
      if (isUnheard) return !isOwnEvent(name);
      return !isAgain && !decisions.some((decision) => isAnswered(decision) || isPending(decision));
    case "unheard":
      return isUnheard && !isOwnEvent(name);
    case "duplicate":
      return isAgain || decisions.some(({ kind }) => kind === "duplicate-event" || kind === "duplicate-key");
    default:
      return decisions.some(({ kind }) => kind === outcome);
  }
}
