// The log's lines: an event and what was decided for it; what came again stands under the first, in one line however often.
import { type Answer, ask, type Query } from "../../api/client.ts";
import type { KeysetPage } from "../../parts/keyset-list.ts";

type ListedEvent = Answer<"GET /api/events">["events"][number];
/** With what was decided for it, which the log asks for. */
export type LoggedEvent = Omit<ListedEvent, "decisions"> & {
  readonly decisions: NonNullable<ListedEvent["decisions"]>;
};

export interface EventLine {
  readonly event: LoggedEvent;
  /** Set on the line of duplicates that stands under its first: all of them, newest first. */
  readonly again: readonly LoggedEvent[] | null;
  /** The first of a duplicate that is itself among the lines. */
  readonly first: LoggedEvent | null;
}

export type EventFilter = Pick<Query<"GET /api/events">, "name" | "value" | "fn" | "outcome" | "since" | "until">;

const pageRows = 100;

export async function fetchEvents(
  filter: EventFilter,
  before: string | undefined,
  signal: AbortSignal,
): Promise<KeysetPage<LoggedEvent>> {
  const query = { ...filter, before, limit: pageRows, decisions: "true" } as const;
  const { events, next, lookedBackTo } = await ask("GET /api/events", { query, signal });
  return { rows: events.map((event) => ({ ...event, decisions: event.decisions ?? [] })), next, lookedBackTo };
}

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

export type Origin =
  | { readonly kind: "run"; readonly run: string }
  | { readonly kind: "webhook"; readonly source: string }
  | { readonly kind: "idem" | "send" };

/** Its sender, as far as the event itself shows: a source's events carry its name before their id and in their own name. */
export function originOf({ sourceRunId, id, name }: Pick<ListedEvent, "sourceRunId" | "id" | "name">): Origin {
  if (sourceRunId !== null) return { kind: "run", run: sourceRunId };
  const source = id.slice(0, Math.max(0, id.indexOf(":")));
  if (source !== "" && name.startsWith(`${source}/`)) return { kind: "webhook", source };
  return { kind: /^(inngest|idem)\//.test(name) ? "idem" : "send" };
}
