// One run per line, newest first or in the order that was chosen. Runs of a key that ran twice keep their rail, and say which of how many they are.
import { Link } from "@tanstack/react-router";
import { type CSSProperties, useMemo } from "react";
import { isRunOrder } from "../../../../idem/src/server/api/run-orders.ts";
import { functionLink } from "../../parts/decision.tsx";
import { Id } from "../../parts/id.tsx";
import { List, type RowFocus } from "../../parts/list.tsx";
import { useNow } from "../../parts/now.ts";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import { usePicks } from "./bulk/use-picks.ts";
import { labelParts, timesRun } from "./group-words.ts";
import type { GroupedRun, GroupItem, Ordered } from "./groups-data.ts";
import { NothingHere } from "./nothing-here.tsx";
import { type ColumnName, columns, columnsOf, orderWords } from "./run-columns.ts";
import { RunLine } from "./run-line.tsx";
import type { RunsView } from "./runs-view.ts";
import { useCompare } from "./use-compare.ts";
import { type Groups, noGroups, useLoudGroups } from "./use-groups.ts";

const itself = (row: GroupItem): GroupItem => row;
const idOf = ({ id }: GroupItem): string => id;

interface Place {
  readonly group: GroupItem;
  /** From one. */
  readonly number: number;
  readonly of: number;
}

export function RunList({
  view,
  groups: { list, ordered, matching },
}: {
  readonly view: RunsView;
  readonly groups: Groups;
}) {
  const loud = useLoudGroups(view, true) ?? noGroups;
  const places = useMemo(() => {
    const found = new Map<string, Place>();
    for (const group of loud) {
      const runs = group.runs.filter(({ kind }) => kind !== "rerun");
      for (const [i, { id }] of runs.entries()) found.set(id, { group, number: i + 1, of: timesRun(group) });
    }
    return found;
  }, [loud]);
  const compare = useCompare();
  const picks = usePicks(view, list.rows, itself);
  const placeOf = (row: GroupItem) => places.get(row.runs[0]?.id ?? row.id);
  const shown = columnsOf(view.search.cols, view.order);
  const inOrder = isRunOrder(view.order) ? orderWords[view.order] : "newest first";
  return (
    <div className="by-run stack" style={widths(shown)}>
      <BulkBar view={view} picks={picks} rowCount={list.rows.length} matchCount={matching?.count ?? null} />
      {ordered !== null && <OrderNote order={inOrder} ordered={ordered} />}
      <List
        list={list}
        picks={picks.rows}
        label={`Runs one by one, ${inOrder}`}
        noun="runs"
        idOf={idOf}
        rowClass={(row) => (placeOf(row) === undefined ? "" : "is-loud")}
        head={
          <>
            <span>Run</span>
            {shown.map((name) => (
              <span key={name} className={`of-${name}`}>
                {columns[name].text}
              </span>
            ))}
            <span className="cut">State, start and output</span>
          </>
        }
        row={(row) => <RunRow row={row} place={placeOf(row)} shown={shown} />}
        keys={(focus) => [
          { keys: "d", words: "Next doubled", run: () => jump(1, focus) },
          { keys: "D", words: "Previous doubled", run: () => jump(-1, focus) },
          { keys: "c", words: "Compare the first two runs", run: () => compare(placeAt(focus.here())?.group) },
        ]}
        empty={<NothingHere view={view} />}
      />
    </div>
  );

  function placeAt(index: number): Place | undefined {
    const row = list.rows[index];
    return row === undefined ? undefined : placeOf(row);
  }

  function jump(by: 1 | -1, { here, to }: RowFocus): void {
    const at = list.rows.flatMap((row, i) => (placeOf(row) === undefined ? [] : [i]));
    const next = by > 0 ? (at.find((i) => i > here()) ?? at[0]) : (at.findLast((i) => i < here()) ?? at.at(-1));
    if (next !== undefined) to(next);
  }
}

/** `narrow` leaves out the function: between a phone and a desk there is no room for it. */
function widths(shown: readonly ColumnName[]): CSSProperties {
  const grid = (names: readonly ColumnName[]) =>
    ["150px", ...names.map((name) => columns[name].width), "minmax(130px, 1.4fr)"].join(" ");
  return {
    "--run-columns": grid(shown),
    "--run-columns-narrow": grid(shown.filter((name) => name !== "fn")),
  } as CSSProperties;
}

/** What an order is of, where it is not of all. */
function OrderNote({ order, ordered: { count, since } }: { readonly order: string; readonly ordered: Ordered }) {
  return (
    <p className="quiet order-note" role="note">
      {`${order[0]!.toUpperCase()}${order.slice(1)}`} among the newest {count.toLocaleString("en")} runs, those created
      since <Time at={since} />. Older ones are not looked at: choose a shorter time or a function.
    </p>
  );
}

interface RunRowProps {
  readonly row: GroupItem;
  readonly place: Place | undefined;
  readonly shown: readonly ColumnName[];
}

function RunRow({ row, place, shown }: RunRowProps) {
  const run = row.runs[0];
  if (run === undefined) return null;
  return (
    <>
      <span className="id-cell">
        <Id
          id={run.id}
          of="run"
          link={(text) => (
            <Link className="row-link" to="/runs/$run" params={{ run: run.id }}>
              {place !== undefined && (
                <span className="spoken">
                  Run {place.number} of {place.of}:{" "}
                </span>
              )}
              {text}
            </Link>
          )}
        />
      </span>
      {shown.map((name) => (
        <Cell key={name} name={name} row={row} run={run} place={place} />
      ))}
      <RunLine run={run} />
    </>
  );
}

interface CellProps extends Omit<RunRowProps, "shown"> {
  readonly name: ColumnName;
  readonly run: GroupedRun;
}

function Cell({ name, row, run, place }: CellProps) {
  switch (name) {
    case "key":
      return <KeyCell row={row} place={place} />;
    case "fn":
      return <span className="fn cut of-fn">{functionLink(row.function)}</span>;
    case "event":
      return (
        <span className="cut of-event" data-name="Event">
          <Link to="/events/$event" params={{ event: run.eventId }}>
            <bdi>{visibleText(row.eventName ?? "event")}</bdi>
          </Link>
        </span>
      );
    case "took":
      return (
        <span className="of-took" data-name="Took">
          <Took run={run} />
        </span>
      );
    default: {
      const at = name === "started" ? run.startedAt : run.endedAt;
      return (
        <span className={`of-${name}`} data-name={columns[name].text}>
          {at === null ? <span className="faint">not yet</span> : <Time at={at} as="list" />}
        </span>
      );
    }
  }
}

/** The time it took, or has been at it so far. */
function Took({ run: { startedAt, endedAt } }: { readonly run: GroupedRun }) {
  const now = useNow();
  if (startedAt === null) return <span className="faint">not begun</span>;
  const words = durationWords((endedAt ?? Math.max(now, startedAt)) - startedAt);
  return endedAt === null ? (
    <span className="nowrap" title="So far: it has not ended">
      {words}
      <span aria-hidden="true">…</span>
      <span className="spoken"> so far</span>
    </span>
  ) : (
    <span className="nowrap">{words}</span>
  );
}

function KeyCell({ row, place }: Omit<RunRowProps, "shown">) {
  const { name, value } = labelParts(place?.group ?? row);
  return (
    <span className="key cut of-key">
      {name !== null && <span className="name">{visibleText(name)} </span>}
      <bdi className="value mono">{visibleText(value)}</bdi>
      {place !== undefined && (
        <b className="doubled nth">
          {place.number} of {place.of}
        </b>
      )}
    </span>
  );
}
