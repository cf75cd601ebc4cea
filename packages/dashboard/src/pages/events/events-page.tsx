// Each event that arrived, and what was decided. It arrived; why did (not) anything run?
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo } from "react";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { DecisionWords } from "../../parts/decision.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FilterHead } from "../../parts/filter-head.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Id } from "../../parts/id.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { sizeWords } from "../../parts/size-words.ts";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { EventFrom } from "./event-from.tsx";
import { type EventLine, fetchEvents, type LoggedEvent, linesOf, originOf } from "./event-lines.ts";
import "./events.css";

const idOf = ({ internalId }: LoggedEvent): string => internalId;
const lineId = ({ event, again }: EventLine): string =>
  again === null ? event.internalId : `again-${event.duplicateOf}`;

export function Page() {
  const filter = useSearch({ from: "/events" });
  const { name, since, until } = filter;
  const navigate = useNavigate({ from: "/events" });
  const list = useKeysetList({
    key: ["events", name, since, until],
    fetchPage: (before, signal) => fetchEvents({ name, since, until }, before, signal),
    idOf,
  });
  const lines = useMemo(() => linesOf(list.rows), [list.rows]);
  useKeys([{ keys: "n", words: "Send a test event", run: () => void navigate({ to: "/events/new" }) }]);
  const isFiltered = name !== undefined || since !== undefined || until !== undefined;
  return (
    <>
      <PageTitle title="Events" />
      <FilterHead
        since={since}
        onSince={(value) => void navigate({ search: (now) => ({ ...now, since: value }) })}
        text={name}
        textLabel="Only events of this name"
        onText={(value) => void navigate({ search: (now) => ({ ...now, name: value }), replace: true })}
        actions={
          <Link className="button is-plain" to="/events/new" search={name === undefined ? {} : { name }}>
            Send a test event
          </Link>
        }
      />
      <div className="events">
        <List
          list={{ ...list, rows: lines }}
          label="Events, newest first"
          noun="events"
          idOf={lineId}
          rowClass={({ again, event }) => (again !== null || event.duplicateOf !== null ? "is-duplicate" : "")}
          head={
            <>
              <span>Time</span>
              <span>Event</span>
              <span>Id</span>
              <span>From</span>
              <span>Decisions</span>
              <span className="size">Size</span>
            </>
          }
          row={(line) => <Line line={line} />}
          empty={isFiltered ? <NoMatch clear={() => void navigate({ search: {} })} /> : <NoEvents />}
        />
      </div>
    </>
  );
}

function Line({ line: { event, again, first } }: { readonly line: EventLine }) {
  const isAgain = again !== null;
  return (
    <>
      <span className="time">
        <Time at={event.receivedAt} as="list" />
      </span>
      <span className="what cut">
        {isAgain && <span className="elbow" aria-hidden="true" />}
        <Link
          className="row-link"
          to="/events/$event"
          params={{ event: isAgain && again.length > 1 ? first!.internalId : event.internalId }}
        >
          <bdi>{visibleText(event.name)}</bdi>
        </Link>
      </span>
      <span className="id-cell">
        {(again === null || again.length === 1) && (
          <Id id={again === null ? event.id : event.internalId} of="event" chars={18} />
        )}
      </span>
      <span className="from quiet cut">{!isAgain && <EventFrom origin={originOf(event)} />}</span>
      <span className="decisions">
        {event.duplicateOf === null ? (
          <Decisions event={event} />
        ) : (
          <Duplicate event={event} again={again} first={first} />
        )}
      </span>
      <span className="size quiet">{sizeWords(event.dataBytes)}</span>
    </>
  );
}

const decisionsShown = 2;

function Decisions({ event: { decisions } }: { readonly event: LoggedEvent }) {
  if (decisions.length === 0) return <span className="faint">no function has this trigger</span>;
  return (
    <>
      {decisions.slice(0, decisionsShown).map((decision) => (
        <DecisionWords key={decision.function} decision={decision} short />
      ))}
      {decisions.length > decisionsShown && <span className="faint">and {decisions.length - decisionsShown} more</span>}
    </>
  );
}

function Duplicate({
  event,
  again,
  first,
}: {
  readonly event: LoggedEvent;
  readonly again: readonly LoggedEvent[] | null;
  readonly first: LoggedEvent | null;
}) {
  const count = again?.length ?? 1;
  return (
    <span className="decision suppressed">
      <Glyph name="suppressed" />
      <span className="cut">
        duplicate of{" "}
        <Link to="/events/$event" params={{ event: event.duplicateOf! }}>
          {first === null ? "an earlier event" : <Time at={first.receivedAt} as="row" />}
        </Link>
        {count > 1 && `, ×${count}`}
      </span>
    </span>
  );
}

const NoMatch = ({ clear }: { readonly clear: () => void }) => (
  <Empty title="No event matches">
    <button type="button" className="button is-plain" onClick={clear}>
      Clear the filter
    </button>
  </Empty>
);

const NoEvents = () => (
  <Empty title="No events yet">
    <p>Send one from here, or with this line in your app:</p>
    <pre>{'await idem.send({ name: "order/paid", id: "order-7", data: { total: 10 } });'}</pre>
    <Link className="button is-primary" to="/events/new">
      Send a test event
    </Link>
  </Empty>
);
