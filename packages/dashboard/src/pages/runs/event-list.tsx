// Runs grouped by the event that asked for them, with what was decided for each function.
import { Link } from "@tanstack/react-router";
import { type DecisionItem, DecisionWords } from "../../parts/decision.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Id } from "../../parts/id.tsx";
import { useKeysetList } from "../../parts/keyset-list.ts";
import { List } from "../../parts/list.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { type EventGroup, fetchGroups, pageRows } from "./groups-data.ts";
import { NothingHere } from "./nothing-here.tsx";
import type { RunsView } from "./runs-view.ts";

const idOf = ({ id }: EventGroup): string => id;
const decisionsShown = 2;

export function EventList({ view }: { readonly view: RunsView }) {
  const {
    since,
    search: { until, event, fn },
  } = view;
  const list = useKeysetList({
    key: ["by-event", since, until, event],
    fetchPage: async (before, signal) => {
      const { events, next } = await fetchGroups(
        { group: "event", since, until, event, before, limit: pageRows },
        signal,
      );
      return { rows: events, next };
    },
    idOf,
  });
  const rows =
    fn === undefined ? list.rows : list.rows.filter(({ decisions }) => decisions.some((each) => each.function === fn));
  return (
    <div className="by-event">
      <List
        list={{ ...list, rows }}
        label="Runs by event, newest first"
        noun="events"
        idOf={idOf}
        head={
          <>
            <span>Time</span>
            <span>Event</span>
            <span>Id</span>
            <span>Decisions</span>
            <span className="number">Runs</span>
          </>
        }
        row={(row) => <EventRow row={row} />}
        empty={<NothingHere view={view} />}
      />
    </div>
  );
}

function EventRow({
  row: { id, callerId, name, receivedAt, firstEventId, decisions, runCount },
}: {
  readonly row: EventGroup;
}) {
  return (
    <>
      <span className="time">
        <Time at={receivedAt} as="full" />
      </span>
      <Link className="row-link cut what" to="/events/$event" params={{ event: id }}>
        <bdi>{visibleText(name)}</bdi>
      </Link>
      <span className="id-cell">
        <Id id={callerId ?? id} of="event" chars={18} />
      </span>
      <span className="decisions">
        {firstEventId !== null ? (
          <span className="decision suppressed">
            <Glyph name="suppressed" />
            <span>
              duplicate of{" "}
              <Link to="/events/$event" params={{ event: firstEventId }}>
                an earlier event
              </Link>
            </span>
          </span>
        ) : decisions.length === 0 ? (
          <span className="faint">no function has this trigger</span>
        ) : (
          decisions
            .slice(0, decisionsShown)
            .map((decision) => (
              <DecisionWords key={decision.function} decision={decision as unknown as DecisionItem} short />
            ))
        )}
        {firstEventId === null && decisions.length > decisionsShown && (
          <span className="faint">and {decisions.length - decisionsShown} more</span>
        )}
      </span>
      <span className="number" data-name="Runs">
        {runCount}
      </span>
    </>
  );
}
