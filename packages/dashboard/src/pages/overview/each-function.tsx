// Each function as a row, trouble first.
import { Link } from "@tanstack/react-router";
import { Glyph } from "../../parts/glyph.tsx";
import { behindWords } from "../../parts/line-words.ts";
import { useNow } from "../../parts/now.ts";
import { Table } from "../../parts/table.tsx";
import { Tag } from "../../parts/tag.tsx";
import { durationWords, lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { counted, numberWords } from "../runs/group-words.ts";
import { Spark } from "./drawings.tsx";
import { endedIn, type Overview, type OverviewFunction } from "./overview-data.ts";

const faintZero = <span className="faint">0</span>;
const faintNone = <span className="faint">none</span>;

export function EachFunction({ overview: { functions, quiet, since } }: { readonly overview: Overview }) {
  const now = useNow();
  const search = endedIn(since);
  if (functions.length === 0) return null;
  return (
    <section className="card each-function">
      <header>
        <h2>Functions</h2>
        <span className="quiet">
          {functions.length} of {functions.length + quiet.length} ran, trouble first
        </span>
        <span className="aside faint">Each chart has its own scale</span>
        {quiet.length > 0 && (
          <Link to="/functions">
            {quiet.length === 1 ? "The one that did not" : `The ${quiet.length} that did not`}
          </Link>
        )}
      </header>
      <Table
        label="Functions that ran"
        rows={functions}
        idOf={({ function: fn }) => fn}
        columns={[
          {
            name: "Function",
            cell: ({ function: fn, id, app, pausedAt }) => (
              <span className="name">
                <Link to="/functions/$fn" params={{ fn }}>
                  <b>{visibleText(id)}</b>
                </Link>
                {app !== "" && <small className="faint">{visibleText(app)}</small>}
                {pausedAt !== null && <Tag tone="waiting">paused</Tag>}
              </span>
            ),
          },
          {
            name: "Ended, over the time",
            cell: ({ function: fn, id, buckets, ended }) =>
              ended === 0 ? (
                faintNone
              ) : (
                <Link to="/runs" search={{ ...search, fn, by: "ended" }} aria-label={`The runs of ${id} that ended`}>
                  <Spark buckets={buckets} />
                </Link>
              ),
          },
          {
            name: "Ended",
            isNumber: true,
            cell: ({ function: fn, ended }) =>
              ended === 0 ? (
                faintZero
              ) : (
                <Link className="plain" to="/runs" search={{ ...search, fn, by: "ended" }}>
                  {numberWords(ended)}
                </Link>
              ),
          },
          {
            name: "Failed",
            isNumber: true,
            cell: ({ function: fn, failed }) =>
              failed === 0 ? (
                faintZero
              ) : (
                <Link className="failed" to="/runs" search={{ ...search, fn, state: "failed" }}>
                  <b>{numberWords(failed)}</b>
                </Link>
              ),
          },
          {
            name: "Twice",
            isNumber: true,
            cell: ({ function: fn, slipped }) =>
              slipped === 0 ? (
                faintZero
              ) : (
                <Link
                  className="doubled sign-and-count"
                  to="/runs"
                  search={{ fn, show: "doubled", since: search.since }}
                >
                  <Glyph name="slipped" />
                  <b>{numberWords(slipped)}</b>
                </Link>
              ),
          },
          { name: "p50", isNumber: true, cell: ({ p50Ms }) => (p50Ms === null ? faintNone : durationWords(p50Ms)) },
          { name: "p95", isNumber: true, cell: ({ p95Ms }) => (p95Ms === null ? faintNone : durationWords(p95Ms)) },
          { name: "In line", isNumber: true, cell: (each) => <InLine of={each} /> },
          {
            name: "Oldest",
            isNumber: true,
            cell: ({ line }) => (line.oldestAt === null ? faintNone : lengthWords(Math.max(0, now - line.oldestAt))),
          },
          {
            name: "Behind",
            cell: ({ line }) =>
              line.behind === null ? null : <Tag tone="waiting">{visibleText(behindWords(line.behind))}</Tag>,
          },
        ]}
      />
    </section>
  );
}

const InLine = ({ of: { function: fn, line } }: { readonly of: OverviewFunction }) =>
  line.waiting === 0 ? (
    faintZero
  ) : (
    <Link
      className={line.behind === null ? "plain" : "waiting"}
      to="/functions/$fn/line"
      params={{ fn }}
      title={`${counted(line.waiting, "run stands", "runs stand")} in line`}
    >
      <b>{numberWords(line.waiting)}</b>
    </Link>
  );
