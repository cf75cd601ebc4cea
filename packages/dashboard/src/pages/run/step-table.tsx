// The waterfall in words: what a screen reader reads, and what can be copied into a report.
import { Link } from "@tanstack/react-router";
import { StateIcon } from "../../parts/state-icon.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import { isRemark, processOf, type Row } from "./rows.ts";
import type { RunDetail } from "./run-data.ts";
import { stepParam } from "./run-words.ts";

interface StepTableProps {
  readonly rows: readonly Row[];
  readonly run: RunDetail;
  readonly workers: Readonly<Record<string, string>>;
}

export function StepTable({ rows, run, workers }: StepTableProps) {
  return (
    <Table
      label="Steps"
      rows={rows}
      idOf={({ id }) => id}
      columns={[
        {
          name: "Step",
          cell: ({ name, entry }) =>
            entry === null ? (
              name
            ) : (
              <Link
                to="/runs/$run"
                params={{ run: run.id }}
                search={(before) => ({ ...before, step: stepParam(run, entry) })}
                replace
                resetScroll={false}
              >
                <bdi>{visibleText(name)}</bdi>
              </Link>
            ),
        },
        {
          name: "State",
          cell: ({ state, entry }) =>
            entry !== null && isRemark(entry) ? (
              "noted"
            ) : (
              <span className="step-state">
                <StateIcon state={state} words={false} /> {entry?.state ?? state}
              </span>
            ),
        },
        { name: "Started", cell: ({ from, entry }) => (entry?.isKept === true ? "kept" : <Time at={from} as="row" />) },
        { name: "Length", cell: ({ words }) => <span className="nowrap">{words}</span>, isNumber: true },
        {
          name: "Attempts",
          cell: ({ entry }) => (entry === null || isRemark(entry) ? "" : entry.attempts.length),
          isNumber: true,
        },
        {
          name: "Worker",
          cell: ({ entry }) =>
            entry === null || entry.attempts.length === 0
              ? ""
              : visibleText(workerWords(entry.attempts.at(-1)!.worker, workers)),
        },
      ]}
    />
  );
}

export function workerWords(worker: string | null, workers: Readonly<Record<string, string>>): string {
  if (worker === null) return "the store";
  const node = workers[worker];
  if (node === undefined) return worker;
  const { host, process } = processOf(node);
  return process === null ? host : `${host}, process ${process}`;
}
