// The log's lines: an event and what was decided for it; what came again stands under the first, in one line however often.
import type { DecisionItem } from "../../../../idem/src/server/api/decision-shape.ts";
import type { EventItem } from "../../../../idem/src/server/api/event-shape.ts";
import { getJson } from "../../api/client.ts";
import type { KeysetPage } from "../../parts/keyset-list.ts";

export interface LoggedEvent extends EventItem {
  readonly decisions: readonly DecisionItem[];
}

export interface EventLine {
  readonly event: LoggedEvent;
  /** Set on the line of duplicates that stands under its first: all of them, newest first. */
  readonly again: readonly LoggedEvent[] | null;
  /** The first of a duplicate that is itself among the lines. */
  readonly first: LoggedEvent | null;
}

export interface EventFilter {
  readonly name?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

const pageRows = 100;
// Several functions can listen to one event; beyond this many decisions the rest of a page's events show none rather than wait.
const decisionPagesMax = 4;

export async function fetchEvents(filter: EventFilter, before: string | undefined, signal: AbortSignal): Promise<KeysetPage<LoggedEvent>> {
  const params = { name: filter.name, since: filter.since, until: filter.until, before, limit: pageRows };
  const { events, next } = await getJson<{ events: EventItem[]; next: string | null }>("api/events", params, signal);
  const decisions = await decisionsOf(events, signal);
  return { rows: events.map((event) => ({ ...event, decisions: decisions.get(event.internalId) ?? [] })), next };
}

/** Decisions are listed in the order of their events' ids, and ids begin with their time. */
async function decisionsOf(events: readonly EventItem[], signal: AbortSignal): Promise<Map<string, DecisionItem[]>> {
  const byEvent = new Map<string, DecisionItem[]>();
  if (events.length === 0) return byEvent;
  const times = events.map(({ internalId }) => timeOfId(internalId));
  const params = { since: Math.min(...times), until: Math.max(...times) + 1, limit: 500 };
  let before: string | undefined;
  for (let page = 0; page < decisionPagesMax; page++) {
    const answer: { decisions: DecisionItem[]; next: string | null } = await getJson("api/decisions", { ...params, before }, signal);
    for (const decision of answer.decisions) {
      const known = byEvent.get(decision.eventId);
      if (known === undefined) byEvent.set(decision.eventId, [decision]);
      else known.push(decision);
    }
    if (answer.next === null) break;
    before = answer.next;
  }
  return byEvent;
}

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeChars = 10;

/** The milliseconds a ULID begins with. */
export const timeOfId = (id: string): number =>
  [...id.slice(0, timeChars)].reduce((sum, char) => sum * digits.length + Math.max(0, digits.indexOf(char)), 0);

/** Newest first, and duplicates under their first where it is listed. */
export function linesOf(events: readonly LoggedEvent[]): readonly EventLine[] {
  const byId = new Map(events.map((event) => [event.internalId, event]));
  const again = new Map<string, LoggedEvent[]>();
  for (const event of events) {
    if (event.duplicateOf === null || !byId.has(event.duplicateOf)) continue;
    const known = again.get(event.duplicateOf);
    if (known === undefined) again.set(event.duplicateOf, [event]);
    else known.push(event);
  }
  const lines: EventLine[] = [];
  for (const event of events) {
    if (event.duplicateOf !== null && byId.has(event.duplicateOf)) continue;
    lines.push({ event, again: null, first: null });
    const duplicates = again.get(event.internalId);
    if (duplicates !== undefined) lines.push({ event: duplicates[0]!, again: duplicates, first: event });
  }
  return lines;
}

export type Origin = { readonly kind: "run"; readonly run: string } | { readonly kind: "webhook"; readonly source: string } | { readonly kind: "idem" | "send" };

/** Who sent it, as far as the event itself tells: a source's events carry its name before their id and in their own name. */
export function originOf({ sourceRunId, id, name }: Pick<EventItem, "sourceRunId" | "id" | "name">): Origin {
  if (sourceRunId !== null) return { kind: "run", run: sourceRunId };
  const source = id.slice(0, Math.max(0, id.indexOf(":")));
  if (source !== "" && name.startsWith(`${source}/`)) return { kind: "webhook", source };
  return { kind: /^(inngest|idem)\//.test(name) ? "idem" : "send" };
}
