// The answer to a sender: the stored events, and what was decided for every function they reach.
import type { Accepted } from "../engine/engine.ts";
import type { Decision } from "../model/decision.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import { type PublicDecision, publicDecision } from "./public-types.ts";

export interface SendResult {
  /** The stored events, in the order given. */
  readonly ids: readonly string[];
  /** The decisions for every event and every function its name reaches. */
  readonly decisions: readonly PublicDecision[];
  /** Set when no function has a trigger for any of the events. */
  readonly unmatched?: true;
}

export interface QueuedResult {
  /** The ids the events will be stored under, in the order given, once the transaction has committed. */
  readonly queued: readonly string[];
}

/** Functions by their full names, unless `nameOf` gives the sender's own. */
export function sendResultOf(accepted: Accepted, nameOf: (fn: string) => string = (fn) => fn): SendResult {
  const differsOf = accepted.firsts.length === 0 ? () => [] : differing(accepted);
  const decisions = accepted.decisions.map((decision) => publicDecision(decision, differsOf(decision), nameOf));
  const ids = accepted.events.map(({ id }) => id);
  return decisions.length === 0 ? { ids, decisions, unmatched: true } : { ids, decisions };
}

/** At which paths an event differs from the first one that answers for it. */
function differing(accepted: Accepted): (decision: Decision) => string[] {
  const firsts = new Map(accepted.firsts.map(({ eventId, data }) => [eventId, data]));
  const given = new Map(accepted.given.map(({ id, data }) => [id, data]));
  return ({ eventId, firstEventId }) => {
    const first = firstEventId === null ? undefined : firsts.get(firstEventId);
    if (first === undefined) return [];
    return differingPaths({ data: fromJson(first) }, { data: fromJson(given.get(eventId)!) });
  };
}
