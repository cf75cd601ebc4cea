// Alerts of the radar and people's judgements on them: one alert for each kind of thing that goes wrong in a function, with every pair
// that shows it. The store joins and counts; what is a duplicate, and whom to tell, is decided elsewhere.
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";

export const alertStates = ["open", "acknowledged", "muted", "closed"] as const;
export type AlertState = (typeof alertStates)[number];

export interface Alert {
  readonly id: string;
  /** "doubled-runs", "key-too-broad", … */
  readonly kind: string;
  /** The function; "" where it is about events. */
  readonly fn: string;
  /** Tells alerts of one kind and function apart: a rule, the name of an event; "" where there is only one. */
  readonly about: string;
  /** The expression or field it is about. A guess may improve with the evidence. */
  readonly subject: string;
  readonly state: AlertState;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly pairCount: number;
  /** JSON text, as it was given last. */
  readonly facts: string;
  /** The last judgement: its author, time and reason; null while there is none. */
  readonly judgedBy: string | null;
  readonly judgedAt: number | null;
  readonly note: string | null;
  /** Until when it is muted; null for good, or when it is not. */
  readonly mutedUntil: number | null;
}

export interface AlertPair {
  /** JSON text of the value both have. */
  readonly entity: string;
  /** The run or event that was first; null when the later one stands alone. */
  readonly firstId: string | null;
  readonly laterId: string;
  readonly at: number;
}

export interface NewAlert {
  /** Made before the first try; an alert that is joined keeps its own. */
  readonly id: string;
  readonly kind: string;
  readonly fn: string;
  readonly about: string;
  readonly subject: string;
  readonly facts: string;
  /** At least one. */
  readonly pairs: readonly AlertPair[];
}

export interface RaiseInput {
  readonly env: string;
  readonly alerts: readonly NewAlert[];
}

export interface Raised {
  readonly alert: Alert;
  /** Opened here, or open again because the time it was muted for is over. */
  readonly isNew: boolean;
  /** Number of pairs that were not known before. */
  readonly added: number;
}

/** `close` is also said when what was wrong is mended. */
export const alertVerdicts = ["acknowledge", "mute", "close"] as const;
export type AlertVerdict = (typeof alertVerdicts)[number];

export interface JudgeInput {
  readonly env: string;
  readonly id: string;
  readonly verdict: AlertVerdict;
  /** With `mute` only; null for good. */
  readonly until: number | null;
  readonly by: string;
  /** Why; for the audit as well. */
  readonly note: string;
}

export type JudgeAnswer =
  | { readonly kind: "judged"; readonly alert: Alert }
  /** It is closed: a later pair opens another. */
  | { readonly kind: "closed"; readonly alert: Alert }
  | { readonly kind: "unknown" };

/** The place up to which the radar has read. */
export interface RadarPosition {
  /** Text the store never reads. */
  readonly position: string;
  /** Grows with every move, from 1. */
  readonly version: number;
}

export interface FollowInput {
  readonly env: string;
  readonly position: string;
  /** The version that was read; 0 for none. */
  readonly over: number;
}

export type FollowAnswer =
  | { readonly kind: "moved"; readonly version: number }
  /** Another node moved it: what was read from there on is that node's. */
  | { readonly kind: "behind"; readonly version: number };

export interface AlertFilter {
  readonly state?: AlertState;
  readonly fn?: string;
  /** Ids before this one. */
  readonly before?: string;
  readonly limit: number;
}

export interface ArrivalFilter {
  /** Ids after this one. */
  readonly after: string;
  /** Ids before this one. */
  readonly before: string;
  readonly limit: number;
}

/** An event with what was decided for each function it reached. */
export interface Arrival {
  readonly event: Event;
  readonly decisions: readonly Decision[];
}

export interface Arrivals {
  /** Oldest first. */
  readonly rows: readonly Arrival[];
  /** Events that some of these were answered with. */
  readonly firsts: readonly Event[];
}

// A page of arrivals is read into memory: data above this is left out ("null"), so that 500 of them are 32 MB at most.
export const arrivalBytesMax = 64 * 1024;

// Beyond it nobody looks for one more: pairs are counted, no longer listed.
export const pairsKeptMax = 10_000;

/** Events with their decisions, and the ids of those they were answered with. */
export function arrivalsOf(
  events: readonly Event[],
  decisions: readonly Decision[],
): { readonly rows: readonly Arrival[]; readonly firstIds: readonly string[] } {
  const byEvent = new Map<string, Decision[]>(events.map(({ id }) => [id, []]));
  for (const decision of decisions) byEvent.get(decision.eventId)?.push(decision);
  const firstIds = [...events, ...decisions].flatMap(({ firstEventId }) => firstEventId ?? []);
  return {
    rows: events.map((event) => ({ event, decisions: byEvent.get(event.id)! })),
    firstIds: [...new Set(firstIds)],
  };
}

/** The alert after these pairs joined it. `existing` is the one that is not closed, if there is one. */
export function joinAlert(existing: Alert | undefined, given: NewAlert, added: number, now: number): Raised {
  const times = given.pairs.map(({ at }) => at);
  if (existing === undefined) {
    const { pairs: _, ...about } = given;
    const firstAt = Math.min(...times);
    const lastAt = Math.max(...times);
    const unjudged = { judgedBy: null, judgedAt: null, note: null, mutedUntil: null };
    return { alert: { ...about, state: "open", firstAt, lastAt, pairCount: added, ...unjudged }, isNew: true, added };
  }
  // Nothing new: told twice, it is the same alert.
  if (added === 0) return { alert: existing, isNew: false, added };
  const isOver = existing.state === "muted" && existing.mutedUntil !== null && existing.mutedUntil <= now;
  return {
    alert: {
      ...existing,
      subject: given.subject,
      facts: given.facts,
      state: isOver ? "open" : existing.state,
      mutedUntil: isOver ? null : existing.mutedUntil,
      firstAt: Math.min(existing.firstAt, ...times),
      lastAt: Math.max(existing.lastAt, ...times),
      pairCount: existing.pairCount + added,
    },
    isNew: isOver,
    added,
  };
}

const statesByVerdict = { acknowledge: "acknowledged", mute: "muted", close: "closed" } as const;

/** The alert after a judgement; `write` is false where the judgement changes nothing. */
export function judgeAlert(
  existing: Alert | undefined,
  { verdict, until, by, note }: JudgeInput,
  now: number,
): { readonly answer: JudgeAnswer; readonly write: boolean } {
  if (existing === undefined) return { answer: { kind: "unknown" }, write: false };
  if (existing.state === "closed") {
    const kind = verdict === "close" ? "judged" : "closed";
    return { answer: { kind, alert: existing }, write: false };
  }
  const state = statesByVerdict[verdict];
  const mutedUntil = verdict === "mute" ? until : null;
  const isSame = existing.state === state && existing.note === note && existing.mutedUntil === mutedUntil;
  if (isSame) return { answer: { kind: "judged", alert: existing }, write: false };
  const alert = { ...existing, state, mutedUntil, judgedBy: by, judgedAt: now, note };
  return { answer: { kind: "judged", alert }, write: true };
}

export function movePosition(
  existing: RadarPosition | undefined,
  { position, over }: FollowInput,
): { readonly answer: FollowAnswer; readonly write: boolean } {
  const version = existing?.version ?? 0;
  // The same move again: its answer was lost.
  if (existing?.position === position && version === over + 1)
    return { answer: { kind: "moved", version }, write: false };
  if (version !== over) return { answer: { kind: "behind", version }, write: false };
  return { answer: { kind: "moved", version: version + 1 }, write: true };
}
