// One function: its key, how it is doing over time, what is ahead of it, and how it was registered.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ApiError, ask } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { hasPage } from "../../pages.ts";
import { Empty } from "../../parts/empty.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { InLineNote, PausedNote } from "../../parts/line-notes.tsx";
import { Note } from "../../parts/note.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Facts } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { type FunctionInFigures, useFresh, useFunction } from "../functions/function-data.ts";
import { standingOf } from "../functions/verdict-words.ts";
import { counted } from "../runs/group-words.ts";
import { FunctionActions } from "./function-actions.tsx";
import { FunctionCharts } from "./function-charts.tsx";
import { Ahead, SetUp } from "./set-up.tsx";
import { VerdictPart } from "./verdict-part.tsx";
import "../functions/functions.css";
import "./function.css";

export function Page() {
  const { fn } = useParams({ from: "/functions/$fn" });
  const { range = "24h" } = useSearch({ from: "/functions/$fn" });
  const navigate = useNavigate({ from: "/functions/$fn" });
  const { data, error, refetch } = useFunction(fn);
  useFresh("function-figures");
  if (data === undefined) {
    return (
      <>
        <PageTitle title={fn} under={{ to: "/functions", text: "Functions" }} />
        <section className="card">
          {error === null ? (
            <Skeleton rows={8} />
          ) : error instanceof ApiError && error.status === 404 ? (
            <Empty title="No function with this name">
              <p>None is registered here under it. It is, once a process that has its code has started.</p>
              <Link className="button is-plain" to="/functions">
                See all functions
              </Link>
            </Empty>
          ) : (
            <ErrorPart
              error={error}
              what="The function could not be read. Runs go on."
              onRetry={() => void refetch()}
            />
          )}
        </section>
      </>
    );
  }
  const isWrong = ["doubled", "wrong", "unproven"].includes(standingOf(data));
  const own = data.limits.find(({ key, scope }) => key === null && scope === "fn");
  return (
    <>
      <PageTitle title={data.id} under={{ to: "/functions", text: "Functions" }} />
      <Headline of={data} />
      <div className="function-bar">
        <Figures of={data} />
        <FunctionActions of={data} />
      </div>
      <div className="function-columns">
        <div className="stack">
          {isWrong && <VerdictPart of={data} />}
          <FunctionCharts
            fn={fn}
            range={range}
            onRange={(next) => void navigate({ search: (now) => ({ ...now, range: next }) })}
            limit={own?.limit ?? null}
          />
          {!isWrong && <VerdictPart of={data} />}
          <SetUp of={data} />
        </div>
        <Ahead of={data} />
      </div>
    </>
  );
}

/** Worst first: it slipped, nobody runs it, it is paused, it fails, it has no key. */
function Headline({ of }: { readonly of: FunctionInFigures }) {
  const { id, function: fn, key, unkeyed, suggestedKey, pausedAt, day } = of;
  const without = useWithoutWorker(of);
  const fix = hasPage("/radar/suggestions/$fn") && key === null && suggestedKey !== null && (
    <Link className="button is-hot" to="/radar/suggestions/$fn" params={{ fn }}>
      Add the key
    </Link>
  );
  if (day.slipped > 0) {
    return (
      <Note
        tone="doubled"
        title={`${day.slipped} ${day.slipped === 1 ? "duplicate" : "duplicates"} slipped through in 24 hours`}
        actions={fix || undefined}
      >
        {key === null
          ? `${id} has no key. One line of configuration stops it.`
          : "Its key was missing, or was given back inside its window."}
      </Note>
    );
  }
  if (without !== null) {
    return (
      <Note
        tone="waiting"
        title={
          <>
            No worker has this function since <Time at={without} />
          </>
        }
      >
        Its runs stand in line and begin once a worker is there. Nothing is lost.
      </Note>
    );
  }
  if (pausedAt !== null) return <PausedNote at={pausedAt} waiting={of.line.waiting} />;
  if (of.line.waiting > 0 && of.line.behind !== null) {
    const toLine = (
      <Link className="button is-plain" to="/functions/$fn/line" params={{ fn }}>
        Open the line
      </Link>
    );
    return <InLineNote line={of.line} actions={toLine} />;
  }
  if (day.failed > 0) {
    const { completed, failed, cancelled } = day;
    return (
      <Note
        tone="failed"
        title={`${count(failed)} of ${counted(completed + failed + cancelled, "run")} that ended in 24 hours failed`}
        actions={
          <Link
            className="button is-plain"
            to="/runs"
            search={{ group: "none", fn, state: "failed", since: new Date(day.since).toISOString() }}
          >
            {failed === 1 ? "See it" : `See the ${count(failed)}`}
          </Link>
        }
      >
        No duplicate slipped through.
      </Note>
    );
  }
  if (key === null && unkeyed !== null) {
    return (
      <Note tone="good" title="It has no key, for a reason">
        {visibleText(unkeyed)}
      </Note>
    );
  }
  if (key === null) {
    return (
      <Note tone="waiting" title="It has no key: two events about one thing start two runs" actions={fix || undefined}>
        Nothing slipped through in 24 hours.
      </Note>
    );
  }
  return (
    <Note
      tone="good"
      title={`Nothing ran twice in 24 hours${day.suppressed === 0 ? "" : `. ${counted(day.suppressed, "duplicate was", "duplicates were")} answered with the first run`}`}
    >
      Its key is <code>{key.expression}</code>.
    </Note>
  );
}

/** Since when runs stand in line without a worker to take them up; null while there is one. */
function useWithoutWorker({ app, line, pausedAt }: FunctionInFigures): number | null {
  const { data: apps } = useQuery({
    queryKey: ["apps"],
    queryFn: async ({ signal }) => (await ask("GET /api/apps", { signal })).apps,
    staleTime: 30_000,
  });
  if (line.oldestAt === null || line.atWork > 0 || pausedAt !== null) return null;
  const isGone = apps?.find((each) => each.app === app)?.workers === 0;
  return isGone || line.behind?.kind === "no-worker" ? line.oldestAt : null;
}

/** Ran and suppressed by when they were asked for, ended and failed by when they ended. */
function Figures({ of: { function: fn, day } }: { readonly of: FunctionInFigures }) {
  const since = new Date(day.since).toISOString();
  const asked = (value: number, show?: "doubled" | "suppressed") =>
    value === 0 ? (
      faintZero
    ) : (
      <Link to="/runs" search={{ fn, since, ...(show === undefined ? {} : { show }) }}>
        {count(value)}
      </Link>
    );
  const ended = (value: number, state: "completed" | "failed") =>
    value === 0 ? (
      faintZero
    ) : (
      <Link className={state === "failed" ? "failed" : ""} to="/runs" search={{ group: "none", fn, since, state }}>
        {count(value)}
      </Link>
    );
  return (
    <Facts
      facts={[
        ["Ran, 24 h", asked(day.first + day.slipped)],
        [
          "Suppressed",
          <span key="suppressed" className="sign-and-count suppressed">
            {day.suppressed > 0 && <Glyph name="suppressed" />}
            {asked(day.suppressed, "suppressed")}
          </span>,
        ],
        [
          "Slipped through",
          <span key="slipped" className={`sign-and-count ${day.slipped > 0 ? "doubled" : ""}`}>
            {day.slipped > 0 && <Glyph name="slipped" />}
            {asked(day.slipped, "doubled")}
          </span>,
        ],
        ["Completed", ended(day.completed, "completed")],
        ["Failed", ended(day.failed, "failed")],
        ["p50", tookWords(day.p50Ms)],
        ["p95", tookWords(day.p95Ms)],
        ["Counted since", <Time key="since" at={day.since} as="minute" />],
        ["Last run", day.lastRunAt === null ? "none" : <Time key="last" at={day.lastRunAt} as="ago" />],
      ]}
    />
  );
}

const faintZero = <span className="faint">0</span>;
const tookWords = (ms: number | null) => (ms === null ? <span className="faint">none ended</span> : durationWords(ms));
const count = (value: number): string => value.toLocaleString("en-GB");
