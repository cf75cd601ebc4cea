// Nearly equal events that nothing recognised, although the function they started has a key: sent without an id, or with one that holds the time
// of sending, and with something in the key that is new each time. (Of a function without a key the doubled runs are the alert.)
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import { contentOf, hasTimestampId } from "./event-ids.ts";
import type { FoundAlert } from "./found-alert.ts";
import { shorten } from "./rule-watch.ts";
import type { RadarRule } from "./rules.ts";

// A few hundred bytes each.
const contentsMax = 4_000;
// Larger data is not compared: nobody hashes megabytes to find out whether two are alike.
const dataCharsMax = 4_096;

interface Seen {
  readonly eventId: string;
  readonly key: string;
  readonly at: number;
}

export class EqualEvents {
  /** By function and content: which event had it last. */
  private readonly seen = new Map<string, Seen>();

  /** `decision` started a run under a key. */
  see(decision: Decision, event: Event, rule: RadarRule | undefined): FoundAlert[] {
    if (rule === undefined || rule.isMuted || decision.key === null || event.data.length > dataCharsMax) return [];
    const isUnnamed = event.callerId === null;
    if (!isUnnamed && !hasTimestampId(event)) return [];
    const data = fromJson(event.data);
    // Nothing in it is equal to everything without anything in it.
    if (typeof data !== "object" || data === null || Object.keys(data).length === 0) return [];
    const mark = `${decision.fn} ${contentOf(event.name, data)}`;
    const first = this.seen.get(mark);
    this.seen.delete(mark);
    this.seen.set(mark, { eventId: event.id, key: decision.key, at: event.receivedAt });
    if (this.seen.size > contentsMax) this.seen.delete(this.seen.keys().next().value!);
    const isTwin = first !== undefined && first.key !== decision.key && event.receivedAt - first.at <= rule.withinMs;
    if (!isTwin) return [];
    return [
      {
        kind: "equal-events",
        fn: decision.fn,
        about: event.name,
        subject: event.name,
        facts: { of: "event", ...(isUnnamed ? {} : { hasTimestampIds: true }) },
        pairs: [{ entity: shorten(event.data), firstId: first.eventId, laterId: event.id, at: event.receivedAt }],
      },
    ];
  }
}
