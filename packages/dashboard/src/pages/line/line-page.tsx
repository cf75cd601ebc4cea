// One function's line: how far behind it is, why, who waits, and what can be done.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { ask } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { InLineNote, PausedNote } from "../../parts/line-notes.tsx";
import { Note } from "../../parts/note.tsx";
import { useNow } from "../../parts/now.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Facts, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { FunctionActions } from "../function/function-actions.tsx";
import { useFresh, useFunction } from "../functions/function-data.ts";
import { counted, numberWords } from "../runs/group-words.ts";
import { HeldBack } from "./held-back.tsx";
import { InLineChart } from "./in-line-chart.tsx";
import type { LineAnswer } from "./line-data.ts";
import "./line.css";

const faintZero = <span className="faint">0</span>;
const faintNone = <span className="faint">none</span>;

// A line moves by itself.
const askAgainMs = 5_000;

export function Page() {
  const { fn } = useParams({ from: "/functions/$fn/line" });
  const { data, error, refetch } = useQuery({
    queryKey: ["function-line", fn],
    queryFn: ({ signal }) => ask("GET /api/functions/:function/line", { params: { function: fn }, signal }),
    refetchInterval: askAgainMs,
  });
  useFresh("function-line");
  return (
    <>
      <PageTitle
        title={`Line of ${data?.id ?? fn}`}
        under={{ to: `/functions/${encodeURIComponent(fn)}`, text: data?.id ?? fn }}
      >
        Line
      </PageTitle>
      {data !== undefined ? (
        <Whole of={data} />
      ) : (
        <section className="card">
          {error === null ? (
            <Skeleton rows={6} />
          ) : (
            <ErrorPart error={error} what="The line could not be read. Runs go on." onRetry={() => void refetch()} />
          )}
        </section>
      )}
    </>
  );
}

function Whole({ of }: { readonly of: LineAnswer }) {
  const now = useNow();
  const { line } = of;
  const runsOf = (count: number, state: "queued" | "running", tone: string) =>
    count === 0 ? (
      faintZero
    ) : (
      <Link className={tone} to="/runs" search={{ group: "none", fn: of.function, state }}>
        {numberWords(count)}
      </Link>
    );
  return (
    <>
      <Headline of={of} />
      <Facts
        isLarge
        facts={[
          ["In line", runsOf(line.waiting, "queued", "waiting")],
          ["Oldest", line.oldestAt === null ? faintNone : lengthWords(Math.max(0, now - line.oldestAt))],
          ["At work", runsOf(line.atWork, "running", "")],
          ["End a minute", line.endsPerMinute === 0 ? faintZero : `${line.endsPerMinute}`],
          [
            "Come a minute",
            line.comePerMinute === null
              ? "too many to count"
              : line.comePerMinute === 0
                ? faintZero
                : line.comePerMinute,
          ],
          [
            "Empty at about",
            line.waiting === 0 ? (
              <span key="now" className="faint">
                it is empty
              </span>
            ) : line.emptyInMs === null ? (
              <span key="none" className="faint">
                not in sight
              </span>
            ) : (
              <Time key="empty" at={now + line.emptyInMs} as="minute" />
            ),
          ],
        ]}
      />
      <div className="line-columns">
        <div className="stack">
          <section className="card in-line">
            <header>
              <h2>In line</h2>
              <span className="quiet">counted back from now, by what came and what ended</span>
            </header>
            <InLineChart of={of} now={now} />
          </section>
          <Lanes of={of} />
          <Next of={of} />
        </div>
        <HeldBack of={of} />
      </div>
    </>
  );
}

function Headline({ of }: { readonly of: LineAnswer }) {
  const { line, pausedAt } = of;
  const { data } = useFunction(of.function);
  const actions = data === undefined ? undefined : <FunctionActions of={data} />;
  if (pausedAt !== null) return <PausedNote at={pausedAt} waiting={line.waiting} actions={actions} />;
  if (line.waiting > 0) return <InLineNote line={line} actions={actions} />;
  return (
    <Note tone="plain" title="Nobody stands in line" actions={actions}>
      {line.atWork === 0 ? "None is at work." : `${counted(line.atWork, "run is", "runs are")} at work.`}
    </Note>
  );
}

function Lanes({ of: { lanes, limits, line } }: { readonly of: LineAnswer }) {
  const now = useNow();
  const waiting = lanes.filter((lane) => lane.waiting > 0);
  if (waiting.length === 0 || waiting.every(({ keys }) => keys.length === 0)) return null;
  const by = limits.flatMap(({ key }) => key ?? []);
  const most = Math.max(...waiting.map((lane) => lane.waiting));
  return (
    <section className="card">
      <header>
        <h2>Who is in line</h2>
        <span className="quiet">by {by.map((key) => visibleText(key)).join(", ")}</span>
      </header>
      <Table
        label="Who is in line"
        rows={waiting}
        idOf={({ keys }) => keys.join(" ")}
        columns={[
          { name: "Key", cell: ({ keys }) => <code>{visibleText(keys.join(", "))}</code> },
          {
            name: "Share",
            cell: (lane) => (
              <meter min={0} max={most} value={lane.waiting} aria-label={`${lane.waiting} of ${line.waiting}`} />
            ),
          },
          { name: "In line", isNumber: true, cell: (lane) => <b>{numberWords(lane.waiting)}</b> },
          {
            name: "Oldest",
            isNumber: true,
            cell: ({ oldestAt }) => (oldestAt === null ? "" : lengthWords(Math.max(0, now - oldestAt))),
          },
          {
            name: "At work",
            isNumber: true,
            cell: ({ atWork }) => (atWork === 0 ? faintZero : numberWords(atWork)),
          },
        ]}
      />
      <p className="quiet under">Lanes take turns: a long one does not keep the others waiting behind it.</p>
    </section>
  );
}

function Next({ of: { next, line, function: fn } }: { readonly of: LineAnswer }) {
  const now = useNow();
  if (next.length === 0) return null;
  return (
    <section className="card">
      <header>
        <h2>Waiting longest</h2>
        <Link to="/runs" search={{ group: "none", fn, state: "queued" }}>
          All {counted(line.waiting, "run")}
        </Link>
      </header>
      <Table
        label="Runs that have waited longest"
        rows={next}
        idOf={({ run }) => run}
        columns={[
          {
            name: "Run",
            cell: ({ run }) => (
              <Link className="mono" to="/runs/$run" params={{ run }}>
                {run}
              </Link>
            ),
          },
          ...(next.every(({ key }) => key === null)
            ? []
            : [
                {
                  name: "Key",
                  cell: ({ key }: (typeof next)[number]) =>
                    key === null ? faintNone : <code>{visibleText(key)}</code>,
                },
              ]),
          { name: "Waited", isNumber: true, cell: ({ createdAt }) => lengthWords(Math.max(0, now - createdAt)) },
        ]}
      />
    </section>
  );
}
