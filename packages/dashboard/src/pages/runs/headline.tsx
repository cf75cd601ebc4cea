// One sentence, before anything else: did anything happen twice? One kind of trouble at a time, the worst first.
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode, useEffect, useRef, useState } from "react";
import { hasPage } from "../../pages.ts";
import { functionLink } from "../../parts/decision.tsx";
import { Note, type NoteTone } from "../../parts/note.tsx";
import { useNow } from "../../parts/now.ts";
import { clockOf, dateOf, isSameDay } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { useSettings } from "../../settings.ts";
import { counted, numberWords } from "./group-words.ts";
import type { GroupItem, Matching, TotalsAnswer } from "./groups-data.ts";
import { useOpenAlertsOf } from "./may-repeat.tsx";
import { changed, inRange, type RunsView } from "./runs-view.ts";
import { failedWith, matchingWords, stateWords } from "./state-words.ts";
import { useTroubles } from "./use-totals.ts";

interface HeadlineProps {
  readonly view: RunsView;
  readonly totals: TotalsAnswer;
  /** "last 7 days" */
  readonly range: string;
  /** The newest doubled groups, and how many there are. */
  readonly doubled: { readonly groups: readonly GroupItem[]; readonly count: number; readonly isAll: boolean };
  /** The rows that match, of a filter that totals do not know. */
  readonly matching: {
    readonly rows: readonly GroupItem[];
    readonly isAll: boolean;
    /** The number of runs, where that is counted. */
    readonly known: Matching | null;
  } | null;
  readonly rows: readonly GroupItem[];
}

export function Headline({ view, totals, range, doubled, matching, rows }: HeadlineProps) {
  const when = inRange(range);
  const count = matching === null ? doubled.count : matching.rows.filter(({ isLoud }) => isLoud).length;
  const mayBeGood = count === 0 && totals.asked > 0 && matching === null;
  const troubles = useTroubles(view.range, mayBeGood);
  if (mayBeGood && troubles === undefined) return <HeadlineToCome />;
  if (count > 0) return <Doubled {...{ view, totals, when, doubled, matching, count }} />;
  if (matching !== null) {
    const state = view.state ?? (view.search.by === undefined ? undefined : ("ended" as const));
    if (state !== undefined) return <OfState {...{ view, when, matching, state }} />;
    const { tone, title } = matchingWords(matching.rows, matching.isAll, when);
    return <Said tone={tone} title={title} />;
  }
  if (troubles !== undefined && troubles.failed > 0) {
    const title = `${counted(troubles.failed, "run")} failed ${when}`;
    return (
      <Said
        tone="failed"
        title={title}
        text="No key ran more than once."
        actions={
          <Link
            className="button is-plain"
            to="/runs"
            search={changed({ state: "failed", group: "none", show: undefined })}
          >
            {troubles.failed === 1 ? "See it" : `See the ${numberWords(troubles.failed)}`}
          </Link>
        }
      />
    );
  }
  if (troubles !== undefined && troubles.withoutWorker > 0) {
    const title = `${counted(troubles.withoutWorker, "run waits", "runs wait")} for a worker`;
    return (
      <Said tone="waiting" title={title} actions={<Show view={view} show="no-worker" text="Show what waits" />}>
        No process has {troubles.withoutWorkerFn === null ? "the function" : functionLink(troubles.withoutWorkerFn)}.
        Start one that does; nothing is lost meanwhile.
      </Said>
    );
  }
  const missing = rows.filter(({ tags }) => tags.includes("key was missing")).length;
  if (missing > 0)
    return (
      <Said
        tone="waiting"
        title={`${counted(missing, "event")} came without the key ${missing === 1 ? "its" : "their"} function asks for`}
      />
    );
  if (totals.asked === 0) return <Said tone="plain" title={`Nothing ran ${when}.`} />;
  const answered =
    totals.suppressed === 0
      ? ""
      : ` ${counted(totals.suppressed, "duplicate was", "duplicates were")} answered with the first run.`;
  return <Said tone="good" title={`Every key ran once.${answered}`} />;
}

interface OfStateProps {
  readonly view: RunsView;
  readonly when: string;
  readonly state: NonNullable<RunsView["state"]> | "ended";
  readonly matching: NonNullable<HeadlineProps["matching"]>;
}

/** The filter's finds and their number: counted, or of the rows that are here. */
function OfState({ view, when, state, matching: { rows, isAll, known } }: OfStateProps) {
  const utc = useSettings().zone === "utc";
  const now = useNow();
  const count = known?.count ?? rows.length;
  const isWhole = known !== null || isAll;
  const { tone, title } = stateWords(state, count, isWhole, view.times.endedSince === undefined ? "" : ` ${when}`);
  const since = known?.since ?? null;
  return (
    <Said tone={count === 0 ? "plain" : tone} title={title}>
      {state === "failed" && <Errors rows={rows} isAll={isAll} />}
      {since !== null && since > 0 && count > 0 && (
        <>
          Counted since {isSameDay(since, now, utc) ? "" : `${dateOf(since, now, utc)}, `}
          {clockOf(since, { utc, millis: false }).slice(0, 5)}
          {view.search.fn === undefined ? "" : <> in {functionLink(view.search.fn)}</>}, by when they ended.
        </>
      )}
      {known === null && !isAll && "More may match: these are the ones on this page."}
    </Said>
  );
}

/** "20 with card was declined, 11 with gateway timeout." Of the rows that are here, which are told apart where they are not all. */
function Errors({ rows, isAll }: { readonly rows: readonly GroupItem[]; readonly isAll: boolean }) {
  const { errors, others } = failedWith(rows);
  if (rows.length < 2 || errors.length === 0) return null;
  return (
    <>
      {isAll ? "" : `Of the ${numberWords(rows.length)} shown here `}
      {errors.map(({ text, count }, at) => (
        <Fragment key={text}>
          {at > 0 && ", "}
          {numberWords(count)} with <code>{visibleText(text)}</code>
        </Fragment>
      ))}
      {others > 0 && `, ${counted(others, "with another error", "with other errors")}`}.{" "}
    </>
  );
}

/** Takes the room of the sentence until it is known: nothing shifts. */
export const HeadlineToCome = () => <div className="headline-to-come" aria-hidden="true" />;

interface DoubledProps extends Omit<HeadlineProps, "range" | "rows"> {
  readonly when: string;
  readonly count: number;
}

function Doubled({ view, totals, when, doubled, matching, count }: DoubledProps) {
  const loud = (matching?.rows ?? doubled.groups).filter(({ isLoud }) => isLoud);
  const byCount = totals.functions.filter(({ slipped }) => slipped > 0).sort((a, b) => b.slipped - a.slipped);
  const names =
    matching === null ? byCount.map((each) => each.function) : [...new Set(loud.map((each) => each.function))];
  const worst = names[0] ?? loud[0]?.function;
  const { data: alerts } = useOpenAlertsOf(view.search.fn, hasPage("/radar/alerts/$alert"));
  const alert = alerts?.find((each) => each.function === worst && each.kind !== "maybe-doubled") ?? alerts?.[0];
  const isKeyless = loud.find((each) => each.function === worst)?.isGuess === true;
  const number = `${numberWords(count)}${doubled.isAll || matching !== null ? "" : " and more"}`;
  const title = `${number} ${count === 1 ? "key" : "keys"}${matching === null ? "" : " that match"} ran more than once ${when}`;
  const where: ReactNode =
    worst === undefined ? null : names.length <= 1 ? (
      <>
        {count === 1 ? "It is" : "All"} in <b>{functionLink(worst)}</b>
        {isKeyless
          ? ", which has no key. One line of configuration stops it."
          : ". Its key was free again before its window ended."}
      </>
    ) : (
      <>
        Most in <b>{functionLink(worst)}</b>, the others in {counted(names.length - 1, "other function")}.
      </>
    );
  const hasSuggestion = isKeyless && worst !== undefined && hasPage("/radar/suggestions/$fn");
  const actions = alert !== undefined || hasSuggestion;
  return (
    <Said
      tone="doubled"
      title={title}
      actions={
        actions && (
          <>
            {alert !== undefined && (
              <Link className="button is-plain" to="/radar/alerts/$alert" params={{ alert: alert.id }}>
                Open the alert
              </Link>
            )}
            {hasSuggestion && (
              <Link className="button is-hot" to="/radar/suggestions/$fn" params={{ fn: worst }}>
                Add the key
              </Link>
            )}
          </>
        )
      }
    >
      {where}
    </Said>
  );
}

const Show = ({
  view,
  show,
  text,
}: {
  readonly view: RunsView;
  readonly show: "failed" | "no-worker";
  readonly text: string;
}) =>
  view.search.show === show ? null : (
    <Link className="button is-plain" to="/runs" search={changed({ show, group: undefined })}>
      {text}
    </Link>
  );

// A screen reader speaks the page at most this often.
const spokenEveryMs = 10_000;

function Said({
  tone,
  title,
  text,
  children,
  actions,
}: {
  readonly tone: NoteTone;
  readonly title: string;
  readonly text?: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}) {
  const [spoken, setSpoken] = useState("");
  const lastAt = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const timer = setTimeout(
      () => {
        lastAt.current = performance.now();
        setSpoken(title);
      },
      Math.max(0, lastAt.current + spokenEveryMs - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [title]);
  return (
    <div className="headline">
      <Note tone={tone} title={title} {...(actions === undefined || actions === false ? {} : { actions })}>
        {children ?? text}
      </Note>
      <span role="status" className="spoken">
        {spoken}
      </span>
    </div>
  );
}
