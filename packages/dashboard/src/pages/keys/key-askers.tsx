// Everybody who asked for a key: who was first, and what the others were answered with.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { DecisionWords } from "../../parts/decision.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Id } from "../../parts/id.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Tag } from "../../parts/tag.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { KeyStory } from "./key-story.ts";

interface Asker {
  readonly id: string;
  readonly at: number;
  readonly event: string | null;
  readonly answer: ReactNode;
  /** Null for the first itself. */
  readonly differs: readonly string[] | null;
}

const eventLink = (event: string) => (
  <Id
    id={event}
    of="event"
    link={(text) => (
      <Link to="/events/$event" params={{ event }}>
        {text}
      </Link>
    )}
  />
);

const first = (words: string): ReactNode => (
  <span className="decision">
    <Glyph name="first" />
    {words}
  </span>
);
const second = (
  <span className="decision suppressed">
    <Glyph name="suppressed" />
    duplicate, answered with the first
  </span>
);

function askersOf({ key, run, event, spared, duplicates }: KeyStory): readonly Asker[] {
  const winner: readonly Asker[] =
    run !== null
      ? [{ id: run.id, at: run.createdAt, event: run.eventId, answer: first("first, started the run"), differs: null }]
      : event !== null
        ? [
            {
              id: event.internalId,
              at: event.receivedAt,
              event: event.internalId,
              answer: first("first with this id"),
              differs: null,
            },
          ]
        : [{ id: key.holder, at: key.takenAt, event: null, answer: first("first"), differs: null }];
  return [
    ...winner,
    ...spared.map(
      (decision): Asker => ({
        id: decision.eventId,
        at: decision.decidedAt,
        event: decision.eventId,
        answer: <DecisionWords decision={decision} />,
        differs: decision.differs,
      }),
    ),
    ...duplicates.map(
      (each): Asker => ({
        id: each.internalId,
        at: each.receivedAt,
        event: each.internalId,
        answer: second,
        differs: [],
      }),
    ),
  ].sort((a, b) => a.at - b.at);
}

const columns: readonly Column<Asker>[] = [
  { name: "Asked", cell: ({ at }) => <Time at={at} /> },
  { name: "Event", cell: ({ event }) => (event === null ? <span className="faint">none</span> : eventLink(event)) },
  { name: "Answer", cell: ({ answer }) => answer },
  {
    name: "Against the first",
    cell: ({ differs }) =>
      differs === null ? null : differs.length === 0 ? (
        <span className="faint">the same</span>
      ) : (
        <span className="tags">
          {differs.map((path) => (
            <Tag key={path} tone="waiting">
              other {visibleText(path)}
            </Tag>
          ))}
        </span>
      ),
  },
];

export function KeyAskers({ story }: { readonly story: KeyStory }) {
  const askers = askersOf(story);
  const untold = story.key.askedCount - askers.length;
  return (
    <section className="card">
      <header>
        <h2>Who asked</h2>
        <span className="quiet">
          {story.key.askedCount === 1 ? "once" : `${story.key.askedCount} times, up to one second ago`}
        </span>
      </header>
      <Table label="Who asked" columns={columns} rows={askers} idOf={({ id }) => id} />
      {untold > 0 && <p className="card-foot faint">and {untold} more, of which only the count is kept</p>}
    </section>
  );
}
