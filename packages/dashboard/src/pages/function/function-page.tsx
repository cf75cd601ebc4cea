// One function: its key, how it is doing over time, what is ahead of it, and how it was registered.
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ask } from "../../api/client.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { hasPage } from "../../pages.ts";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Glyph } from "../../parts/glyph.tsx";
import { Note } from "../../parts/note.tsx";
import { useNow } from "../../parts/now.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Facts } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { type FunctionInFigures, useFresh, useFunction } from "../functions/function-data.ts";
import { standingOf } from "../functions/verdict-words.ts";
import { useCharts } from "./charts-data.ts";
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

// A worker takes up what is due within a second or two; longer than this nobody is there.
const takenUpMs = 30_000;

/** Worst first: it slipped, nobody runs it, it is paused, it has no key. */
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
  if (pausedAt !== null) {
    return (
      <Note
        tone="waiting"
        title={
          <>
            Paused since <Time at={pausedAt} />
          </>
        }
      >
        It starts no runs. Its events are kept; open runs go on.
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
      <Note tone="doubled" title="It has no key: two events about one thing start two runs" actions={fix || undefined}>
        Nothing slipped through in 24 hours.
      </Note>
    );
  }
  return (
    <Note
      tone="good"
      title={`Nothing ran twice in 24 hours. ${day.suppressed} ${day.suppressed === 1 ? "duplicate was" : "duplicates were"} answered with the first run`}
    >
      Its key is <code>{key.expression}</code>.
    </Note>
  );
}

/** Since when runs stand in line that nobody takes up; null while somebody does. */
function useWithoutWorker({ function: fn, app, open, pausedAt }: FunctionInFigures): number | null {
  const now = useNow(null);
  const { data: charts } = useCharts(fn, "24h");
  const { data: apps } = useQuery({
    queryKey: ["apps"],
    queryFn: async ({ signal }) => (await ask("GET /api/apps", { signal })).apps,
    staleTime: 30_000,
  });
  const since = charts?.dueSince ?? null;
  if (since === null || open.due === 0 || open.running > 0 || pausedAt !== null) return null;
  const isGone = apps?.find((each) => each.app === app)?.workers === 0;
  return isGone || now - since > takenUpMs ? since : null;
}

function Figures({ of: { function: fn, day } }: { readonly of: FunctionInFigures }) {
  const runs = (text: string, show?: "doubled" | "suppressed" | "failed") =>
    hasPage("/runs") ? (
      <Link to="/runs" search={{ fn, since: "24h", ...(show === undefined ? {} : { show }) }}>
        {text}
      </Link>
    ) : (
      text
    );
  const count = (value: number) => value.toLocaleString("en-GB");
  return (
    <Facts
      facts={[
        ["Ran, 24 h", runs(count(day.first + day.slipped))],
        [
          "Suppressed",
          <span key="suppressed" className="sign-and-count suppressed">
            <Glyph name="suppressed" />
            {runs(count(day.suppressed), "suppressed")}
          </span>,
        ],
        [
          "Slipped through",
          <span key="slipped" className={`sign-and-count ${day.slipped > 0 ? "doubled" : ""}`}>
            {day.slipped > 0 && <Glyph name="slipped" />}
            {runs(count(day.slipped), "doubled")}
          </span>,
        ],
        ["Failed", runs(count(day.failed), "failed")],
        ["p50", day.p50Ms === null ? "none yet" : durationWords(day.p50Ms)],
        ["p95", day.p95Ms === null ? "none yet" : durationWords(day.p95Ms)],
        ["Last run", day.lastRunAt === null ? "none" : <Time key="last" at={day.lastRunAt} as="ago" />],
      ]}
    />
  );
}
