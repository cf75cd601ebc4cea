// Each event that arrived, and what was decided. It arrived; why did (not) anything run?
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { ask } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { useKeys } from "../../keys.ts";
import { Button } from "../../parts/button.tsx";
import { DecisionWords } from "../../parts/decision.tsx";
import { Empty } from "../../parts/empty.tsx";
import { FilterSelect } from "../../parts/field.tsx";
import { FilterHead } from "../../parts/filter-head.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Id } from "../../parts/id.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { instantOf, pinned } from "../../parts/pin-time.ts";
import { SavedViews } from "../../parts/saved-views.tsx";
import { ShareLink } from "../../parts/share-link.tsx";
import { sizeWords } from "../../parts/size-words.ts";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { EventFrom } from "./event-from.tsx";
import { type EventLine, fetchEvents, type LoggedEvent, linesOf, originOf } from "./event-lines.ts";
import { outcomeChoices } from "./outcome-words.ts";
import "./events.css";

const idOf = ({ internalId }: LoggedEvent): string => internalId;
const lineId = ({ event, again }: EventLine): string =>
  again === null ? event.internalId : `again-${event.duplicateOf}`;

export function Page() {
  const filter = useSearch({ from: "/events" });
  const { name, value, fn, outcome, since, until } = filter;
  const navigate = useNavigate({ from: "/events" });
  const list = useKeysetList({
    key: ["events", name, value, fn, outcome, since, until],
    fetchPage: (before, signal) => fetchEvents({ name, value, fn, outcome, since, until }, before, signal),
    idOf,
  });
  const lines = useMemo(() => linesOf(list.rows), [list.rows]);
  useKeys([{ keys: "n", words: "Send a test event", run: () => void navigate({ to: "/events/new" }) }]);
  const isFiltered = [name, value, fn, outcome, since, until].some((each) => each !== undefined);
  const { names, functions } = useEventNames();
  return (
    <>
      <PageTitle title="Events" />
      <FilterHead
        since={since}
        onSince={(value) => void navigate({ search: (now) => ({ ...now, since: value, until: undefined }) })}
        text={name}
        textLabel="Only events of this name"
        texts={names}
        onText={(value) => void navigate({ search: (now) => ({ ...now, name: value }), replace: true })}
        actions={
          <div className="list-tools">
            <SavedViews page="events" />
            <ShareLink
              times={(now) =>
                since === undefined
                  ? { until: pinned(until ?? new Date(now).toISOString(), now) }
                  : { since: pinned(since, now), until: pinned(until ?? new Date(now).toISOString(), now) }
              }
            />
            <Link className="button is-plain" to="/events/new" search={name === undefined ? {} : { name }}>
              Send a test event
            </Link>
          </div>
        }
      >
        <FilterSelect
          label="Became"
          value={outcome ?? ""}
          choices={outcomeChoices}
          onChange={(value) =>
            void navigate({ search: (now) => ({ ...now, outcome: (value || undefined) as typeof outcome }) })
          }
        />
        <FilterSelect
          label="Function"
          value={fn ?? ""}
          choices={functions}
          onChange={(value) => void navigate({ search: (now) => ({ ...now, fn: value || undefined }) })}
        />
        {value !== undefined && (
          <Chosen
            name="Value"
            onClear={() => void navigate({ search: (now) => ({ ...now, value: undefined }) })}
            what="the value"
          >
            <bdi>{visibleText(value)}</bdi>
          </Chosen>
        )}
        {until !== undefined && (
          <Chosen
            name="Until"
            onClear={() => void navigate({ search: (now) => ({ ...now, until: undefined }) })}
            what="the end of the time"
          >
            {instantOf(until) === null ? visibleText(until) : <Time at={instantOf(until)!} as="list" />}
          </Chosen>
        )}
      </FilterHead>
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

/** Of what came lately and what functions listen to; completes what is typed. */
function useEventNames() {
  const { data } = useQuery({
    queryKey: ["event-names"],
    queryFn: async ({ signal }) => (await ask("GET /api/event-types", { signal })).eventTypes,
    staleTime: 60_000,
  });
  const functions = [...new Set(data?.flatMap((each) => each.functions) ?? [])].sort();
  return {
    names: data?.map((each) => each.name),
    functions: [{ value: "", text: "all" }, ...functions.map((each) => ({ value: each, text: each }))],
  };
}

interface ChosenProps {
  readonly name: string;
  readonly what: string;
  readonly children: ReactNode;
  readonly onClear: () => void;
}

/** A filter that came with a link; it can only be taken away. */
const Chosen = ({ name, what, children, onClear }: ChosenProps) => (
  <span className="filter is-set chosen">
    <span>{name}</span>
    <b className="cut">{children}</b>
    <Button look="link" small aria-label={`Take away ${what}`} onClick={onClear}>
      <Icon name="cross" size={12} />
    </Button>
  </span>
);

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
