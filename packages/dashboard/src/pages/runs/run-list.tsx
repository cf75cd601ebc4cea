// One run per line, newest first. Runs of a key that ran twice keep their rail, and say which of how many they are.
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { functionLink } from "../../parts/decision.tsx";
import { Id } from "../../parts/id.tsx";
import { List, type RowFocus } from "../../parts/list.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { BulkBar } from "./bulk/bulk-bar.tsx";
import { usePicks } from "./bulk/use-picks.ts";
import { labelParts, timesRun } from "./group-words.ts";
import type { GroupItem } from "./groups-data.ts";
import { NothingHere } from "./nothing-here.tsx";
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

export function RunList({ view, groups: { list } }: { readonly view: RunsView; readonly groups: Groups }) {
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
  return (
    <div className="by-run stack">
      <BulkBar view={view} picks={picks} rowCount={list.rows.length} />
      <List
        list={list}
        picks={picks.rows}
        label="Runs one by one, newest first"
        noun="runs"
        idOf={idOf}
        rowClass={(row) => (placeOf(row) === undefined ? "" : "is-loud")}
        head={
          <>
            <span>Run</span>
            <span>Key</span>
            <span>Function</span>
            <span>State, start and output</span>
          </>
        }
        row={(row) => <RunRow row={row} place={placeOf(row)} />}
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

function RunRow({ row, place }: { readonly row: GroupItem; readonly place: Place | undefined }) {
  const run = row.runs[0];
  const { name, value } = labelParts(place?.group ?? row);
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
      <span className="key cut">
        {name !== null && <span className="name">{visibleText(name)} </span>}
        <bdi className="value mono">{visibleText(value)}</bdi>
        {place !== undefined && (
          <b className="doubled nth">
            {place.number} of {place.of}
          </b>
        )}
      </span>
      <span className="fn cut">{functionLink(row.function)}</span>
      <RunLine run={run} />
    </>
  );
}
