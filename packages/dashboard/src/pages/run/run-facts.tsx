// The facts of a run: how long, since when, by what, for whom, under which code.
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { Id } from "../../parts/id.tsx";
import { Facts } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { WindowBar } from "../../parts/window-bar.tsx";
import { type GroupItem, isOpen, type RunAnswer } from "./run-data.ts";
import { historyOf } from "./run-queries.ts";
import { count, stepsWords } from "./run-words.ts";

export function RunFacts({ answer, group }: { readonly answer: RunAnswer; readonly group: GroupItem | undefined }) {
  const { run, event, events, parent, children } = answer;
  const facts: (readonly [string, ReactNode] | null)[] = [
    run.endedAt === null || run.startedAt === null
      ? null
      : ["Took", <b key="took">{durationWords(run.endedAt - run.startedAt)}</b>],
    ["Started", run.startedAt === null ? "not yet" : <Time key="started" at={run.startedAt} />],
    run.endedAt === null
      ? isOpen(run)
        ? ["Ended", "not yet"]
        : null
      : ["Ended", <Time key="ended" at={run.endedAt} />],
    [
      "Trigger",
      <span key="trigger">
        <Link className="mono" to="/events/$event" params={{ event: event.internalId }}>
          <bdi>{breakable(visibleText(event.name))}</bdi>
        </Link>
        {events.length > 1 && ` and ${count(events.length - 1, "event")} more in its batch`}
      </span>,
    ],
    parent === null ? null : ["Parent", <Parent key="parent" parent={parent} />],
    children.length === 0 ? null : ["Children", <Children key="children" answer={answer} />],
    ["Steps", stepsWords(run)],
    [
      "Run",
      <span key="run" className="with-link">
        <Id id={run.id} of="run" />
        {answer.trace?.url != null && (
          <a href={answer.trace.url} target="_blank" rel="noreferrer">
            trace
          </a>
        )}
      </span>,
    ],
    [
      "History",
      <a key="history" href={historyOf(run.id)} download={`run-${run.id}.json`}>
        download
      </a>,
    ],
    answer.trace === null || answer.trace.url !== null
      ? null
      : ["Trace", <Id key="trace" id={answer.trace.id} of="trace" />],
    run.code === null ? null : ["Code", <Code key="code" answer={answer} />],
    ["Window", <WindowFact key="window" group={group} />],
  ];
  return (
    <div className="run-facts">
      <Facts facts={facts.filter((each) => each !== null)} />
    </div>
  );
}

/** A name breaks behind what parts its words, and not inside of one. */
const breakable = (text: string): ReactNode =>
  text.split(/(?<=[/._-])/).map((part, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the same part may stand twice in a name
    <Fragment key={place}>
      {part}
      <wbr />
    </Fragment>
  ));

function Parent({ parent }: { readonly parent: NonNullable<RunAnswer["parent"]> }) {
  const { runId, function: fn, step, isInvoked } = parent;
  return (
    <>
      <Link to="/runs/$run" params={{ run: runId }} search={step === null ? {} : { step }}>
        <bdi>{visibleText(fn)}</bdi>
      </Link>
      {isInvoked ? (step === null ? "" : `, step ${visibleText(step)}`) : ", which sent its event"}
    </>
  );
}

/** One is a link to it, several are counted by how they are. */
function Children({ answer }: { readonly answer: RunAnswer }) {
  const { children, childCount } = answer;
  const [first] = children;
  const states = [...new Set(children.map(({ state }) => state))];
  const how = states.map((state) => `${children.filter((each) => each.state === state).length} ${state}`).join(", ");
  return childCount === 1 ? (
    <>
      <Link to="/runs/$run" params={{ run: first!.runId }}>
        <bdi>{visibleText(first!.function)}</bdi>
      </Link>
      , {first!.state}
    </>
  ) : (
    <span title={childCount > children.length ? `Of the first ${children.length}` : undefined}>
      {count(childCount, "run")}: {how}
    </span>
  );
}

function Code({ answer }: { readonly answer: RunAnswer }) {
  const { run, codeNow } = answer;
  return (
    <>
      <span className="mono">{visibleText(run.code!)}</span>
      {codeNow === null ? "" : codeNow === run.code ? ", as it is now" : ", another one is there now"}
    </>
  );
}

function WindowFact({ group }: { readonly group: GroupItem | undefined }) {
  if (group === undefined) return <span className="faint">…</span>;
  const { kind, startsAt, endsAt } = group.window;
  if (kind === "timed" && endsAt !== null) return <WindowBar window={{ kind: "timed", startsAt, endsAt }} />;
  if (kind === "forever" || kind === "until-finished") return <WindowBar window={{ kind }} />;
  const isMissing = group.tags.includes("key was missing");
  return (
    <b className={group.isLoud ? "doubled" : "quiet"}>
      {isMissing ? "none: the key was missing" : "none: the function has no key"}
    </b>
  );
}
