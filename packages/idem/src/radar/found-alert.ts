// Alerts before they are kept: findings of one kind, function and thing become one alert.
import type { Alert, AlertPair } from "../store/alerts.ts";
import { type RollbackCause, rollbackKind, rollbackTitle } from "../store/history.ts";
import { times } from "./finding.ts";
import { rollbackNext } from "./store-rollback.ts";

export interface AlertFacts {
  /** The kind of thing that is paired. */
  readonly of: "run" | "event";
  /** "placements" */
  readonly entities?: string;
  /** Entities looked at. */
  readonly entityCount?: number;
  readonly runCount?: number;
  /** Paths at which what was taken for the same differed. */
  readonly differs?: readonly string[];
  /** Of equal events: they had ids, and those held the time of sending. */
  readonly hasTimestampIds?: true;
  readonly rule?: string;
  /** Of a rule about effects: its pairs are the runs that had them. */
  readonly what?: "effects";
  readonly more?: number;
  readonly withinMs?: number;
  /** Of a store that lost acknowledged writes: how, and when it was found by the store's clock. */
  readonly cause?: RollbackCause;
  readonly foundAt?: number;
}

export interface FoundAlert {
  readonly kind:
    | "doubled-runs"
    | "maybe-doubled"
    | "key-ran-again"
    | "key-missing"
    | "key-too-broad"
    | "id-too-broad"
    | "id-under-two-names"
    | "equal-events"
    | "doubled-deliveries"
    /** Raised where it is noticed, by the engine. */
    | "diverged"
    | typeof rollbackKind
    | "rule";
  readonly fn: string;
  readonly about: string;
  readonly subject: string;
  readonly facts: AlertFacts;
  readonly pairs: readonly AlertPair[];
}

/** One for each alert they will join, with all its pairs; what was said last stands. */
export function mergeFound(found: readonly FoundAlert[]): FoundAlert[] {
  const merged = new Map<string, FoundAlert>();
  for (const each of found) {
    const place = JSON.stringify([each.kind, each.fn, each.about]);
    const known = merged.get(place);
    if (known === undefined) {
      merged.set(place, each);
      continue;
    }
    const differs = [...new Set([...(known.facts.differs ?? []), ...(each.facts.differs ?? [])])].slice(0, 20);
    const facts = differs.length === 0 ? each.facts : { ...each.facts, differs };
    merged.set(place, { ...each, facts, pairs: [...known.pairs, ...each.pairs] });
  }
  return [...merged.values()];
}

/** A kept alert in words. */
export interface AlertWords {
  readonly title: string;
  /** The advice. */
  readonly next: string;
  /** The line to paste into the function's configuration; null where a line does not mend it. */
  readonly line: string | null;
}

export function wordsOf(
  alert: Pick<FoundAlert, "subject" | "facts"> & { readonly kind: string; readonly pairCount: number } & Partial<
      Pick<Alert, "id" | "firstAt" | "lastAt">
    >,
  name: string,
): AlertWords {
  const { kind, subject, facts, pairCount: count } = alert;
  const paths = facts.differs?.join(", ") ?? "";
  switch (kind) {
    case "doubled-runs": {
      const line = `idempotency: ${JSON.stringify(subject)},`;
      return {
        title: `"${name}" ran the same thing again ${times(count, "time")}, by ${subject}: our best guess, it has no key`,
        next: `Give the function this key: ${line}`,
        line,
      };
    }
    case "maybe-doubled":
      return {
        title: `"${name}" ran ${times(count, "time")} again with the same data: maybe the same`,
        next: "Give the function a key if its runs are about one thing each; close the alert if they are not",
        line: null,
      };
    case "key-ran-again":
      return {
        title: `"${name}" ran ${times(count, "key")} again although it has a key`,
        next: "Its window is shorter than the deliveries are apart, or keys were released by hand: idem explain tells which",
        line: null,
      };
    case "key-missing":
      return {
        title: `The key of "${name}" was missing in ${times(count, "event")}; they ran`,
        next: 'Correct the sender or the expression; onMissing: "reject" holds such events for a person instead',
        line: null,
      };
    case "key-too-broad":
      return {
        title: `The key of "${name}" answered ${times(count, "event")} that differed in what they are about: ${paths}`,
        next: `Make the key more specific: ${subject} says nothing about ${paths}`,
        line: null,
      };
    case "id-too-broad":
      return {
        title: `Ids of "${subject}" suppressed ${times(count, "event")} that differed in what they are about: ${paths}`,
        next: `Put what tells them apart into the id: ${paths}`,
        line: null,
      };
    case "id-under-two-names":
      return {
        title: `One event id arrived under two names, ${times(count, "time")}: ${subject}`,
        next: "Begin the id with what happened: ids are shared by all names, so the second event is taken for a repeat",
        line: null,
      };
    case "equal-events": {
      const how = facts.hasTimestampIds === true ? "under ids that hold the time of sending" : "without an id";
      return {
        title: `${times(count, "nearly equal event")} "${subject}" came ${how} and ran "${name}" again under another key`,
        next: "Give the event an id made from what happened, and take what is new each time out of the function's key",
        line: null,
      };
    }
    case "doubled-deliveries":
      return {
        title: `The new source "${subject}" delivered the same thing again ${times(count, "time")} under another id: maybe the same`,
        next: `Give the source a key that makes them one (idem webhooks add … --key <path>, or businessKey of a receiver in code), or the functions it starts; close the alert if they are different`,
        line: null,
      };
    case "diverged":
      return {
        title: `${times(count, "run")} of "${name}" did something new in place of a step that was done: ${subject}. It may have happened twice`,
        next: 'Give the step the id it had, or the changed function an id of its own; onDiverged: "park" stops such runs before (docs/deploying.md)',
        line: null,
      };
    case rollbackKind:
      return {
        title: rollbackTitle(facts.cause ?? "failover", alert),
        next: rollbackNext(alert.id),
        line: null,
      };
    default:
      return {
        title: `Rule "${facts.rule ?? ""}": more than ${facts.more ?? 1} ${facts.what ?? `${facts.of ?? "run"}s`} for one ${subject}${name === "" ? "" : ` of "${name}"`}, ${times(count, "time")}`,
        next: "Look at the pairs; acknowledge, mute or close the alert",
        line: null,
      };
  }
}
