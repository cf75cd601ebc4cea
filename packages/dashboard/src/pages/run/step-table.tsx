// The waterfall in words: what a screen reader reads, and what can be copied into a report.
import { Link } from "@tanstack/react-router";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Lane } from "./lanes.ts";
import { isRemark, processOf, type Row } from "./rows.ts";
import type { TimelineEntry } from "./run-data.ts";
import { useVirtualRows } from "./virtual-rows.ts";

interface StepTableProps {
  readonly lanes: readonly Lane[];
  readonly runId: string;
  readonly paramOf: (entry: TimelineEntry) => string;
  readonly workers: Readonly<Record<string, string>>;
  readonly stuckPx: number;
}

const columns = ["Step", "State", "Started", "Length", "Attempts", "Worker"] as const;
const numbers: ReadonlySet<string> = new Set(["Length", "Attempts"]);
const rowPx = 35;

export function StepTable({ lanes, runId, paramOf, workers, stuckPx }: StepTableProps) {
  const { ref, indexes, beforePx, afterPx, measure } = useVirtualRows<HTMLTableSectionElement>({
    count: lanes.length,
    keyOf: (index) => lanes[index]!.id,
    heightOf: () => rowPx,
    stuckPx,
  });
  return (
    <table className="table" aria-label="Steps" aria-rowcount={lanes.length + 1}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col" className={numbers.has(name) ? "is-number" : ""}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={ref}>
        {beforePx > 0 && <Gap px={beforePx} />}
        {indexes.map((index) => {
          const lane = lanes[index];
          if (lane === undefined) return null;
          return (
            <tr key={lane.id} data-index={index} ref={measure} aria-rowindex={index + 2}>
              {columns.map((name) => (
                <td key={name} data-name={name} className={numbers.has(name) ? "is-number" : ""}>
                  {lane.kind === "row" ? (
                    <Cell name={name} row={lane.row} runId={runId} paramOf={paramOf} workers={workers} />
                  ) : (
                    name === "Step" && visibleText(foldWords(lane))
                  )}
                </td>
              ))}
            </tr>
          );
        })}
        {afterPx > 0 && <Gap px={afterPx} />}
      </tbody>
    </table>
  );
}

const Gap = ({ px }: { readonly px: number }) => (
  <tr className="gap">
    <td colSpan={columns.length} style={{ height: px }} />
  </tr>
);

const foldWords = (lane: Exclude<Lane, { kind: "row" }>): string =>
  lane.kind === "rest" ? lane.words : `${lane.series.name} × ${lane.series.rows.length}`;

interface CellProps extends Pick<StepTableProps, "runId" | "paramOf" | "workers"> {
  readonly name: (typeof columns)[number];
  readonly row: Row;
}

function Cell({ name, row, runId, paramOf, workers }: CellProps) {
  const { entry, state } = row;
  const isStep = entry !== null && !isRemark(entry);
  switch (name) {
    case "Step":
      return entry === null ? (
        row.name
      ) : (
        <Link
          to="/runs/$run"
          params={{ run: runId }}
          search={(before) => ({ ...before, step: paramOf(entry) })}
          replace
          resetScroll={false}
        >
          <bdi>{visibleText(row.name)}</bdi>
        </Link>
      );
    case "State":
      return entry !== null && isRemark(entry) ? (
        "noted"
      ) : (
        <span className="step-state">
          <StateIcon state={state} words={false} /> {entry?.state ?? state}
        </span>
      );
    case "Started":
      return entry?.isKept === true ? "kept" : <Time at={row.from} as="row" />;
    case "Length":
      return <span className="nowrap">{row.words}</span>;
    case "Attempts":
      return isStep ? entry.attempts.length : "";
    case "Worker":
      return isStep && entry.attempts.length > 0
        ? visibleText(workerWords(entry.attempts.at(-1)!.worker, workers))
        : "";
  }
}

export function workerWords(worker: string | null, workers: Readonly<Record<string, string>>): string {
  if (worker === null) return "the store";
  const node = workers[worker];
  if (node === undefined) return worker;
  const { host, process } = processOf(node);
  return process === null ? host : `${host}, process ${process}`;
}
