// Stands in for the Overview in the first minutes: four steps, each of which lights up by itself, says what arrived and opens
// the next. Mounted by the page at `/`, which asks useFirstMinutes whether it is time for it.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useStatus } from "../../api/status.ts";
import { PageTitle } from "../../frame/page-title.tsx";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { ConnectApp } from "./connect-app.tsx";
import { type FirstMinutesState, type Progress, stepsDone } from "./first-minutes-data.ts";
import { SendAgain } from "./send-again.tsx";
import { SendFirst } from "./send-first.tsx";
import { ThisServer } from "./this-server.tsx";
import "./first-minutes.css";

const headings = [
  "Nothing is connected yet. Four steps, about five minutes",
  "One of four. Send an event",
  "Two of four. The run is on its way",
  "Three of four. One duplicate to go",
  "Four of four. The second asking was answered with the first run",
] as const;

export function FirstMinutes({
  progress,
  close,
}: {
  readonly progress: Progress;
  readonly close: FirstMinutesState["close"];
}) {
  const done = stepsDone(progress);
  const { data: status } = useStatus();
  return (
    <>
      <PageTitle title="First minutes" />
      <div className="first-head">
        <h2 aria-live="polite">{headings[done]}</h2>
        <Button look="link" small onClick={close}>
          {done === 4 ? "Go on" : "Close this"}
        </Button>
      </div>
      <div className="first-progress" aria-hidden="true">
        {[0, 1, 2, 3].map((step) => (
          <span key={step} className={step < done ? "is-done" : ""} />
        ))}
      </div>
      <div className="first-columns">
        <ol className="card first-steps">
          <Step
            number={1}
            done={done}
            title="Connect an app"
            did="App connected"
            words={<AppWords progress={progress} />}
            waits="listening for one"
          >
            <ConnectApp progress={progress} status={status} />
          </Step>
          <Step
            number={2}
            done={done}
            title="Send the first event"
            did="First event"
            words={<EventWords progress={progress} />}
            before="from your code, or from here with one button"
            waits="waiting for it"
          >
            <SendFirst progress={progress} />
          </Step>
          <Step
            number={3}
            done={done}
            title="See the first run"
            did="First run"
            words={<RunWords progress={progress} />}
            before="every step, with what went in and what came out"
            waits="waiting for it"
          >
            <p className="quiet">
              The event is here and started nothing yet: no function listens to its name, or the run is about to begin.{" "}
              <Link to="/events">Look at the events</Link>.
            </p>
          </Step>
          <Step
            number={4}
            done={done}
            title="Stop the first duplicate"
            did="First duplicate stopped"
            words="no second run started"
            before="send the same event again and nothing happens twice"
            waits="waiting for it"
          >
            <SendAgain progress={progress} />
          </Step>
        </ol>
        <aside className="first-aside" aria-label="This server and what else can be done">
          <ThisServer status={status} tried={progress.tried} />
        </aside>
      </div>
    </>
  );
}

interface StepProps {
  readonly number: 1 | 2 | 3 | 4;
  readonly done: number;
  readonly title: string;
  /** Its title once it is done. */
  readonly did: string;
  /** What arrived. */
  readonly words: ReactNode;
  /** Its subject, before its turn. */
  readonly before?: string;
  readonly waits: string;
  readonly children: ReactNode;
}

function Step({ number, done, title, did, words, before, waits, children }: StepProps) {
  const state = done >= number ? "done" : done === number - 1 ? "now" : "later";
  return (
    <li className={`is-${state}`} aria-current={state === "now" ? "step" : undefined}>
      <div className="line">
        <span className="mark" aria-hidden="true">
          {state === "done" ? <Icon name="check" size={14} /> : number}
        </span>
        <h3>
          {state === "done" ? did : title}
          <span className="spoken">{state === "done" ? ", done" : ""}</span>
        </h3>
        <span className="words">
          {state === "done" ? (
            words
          ) : state === "now" ? (
            <>
              <span className="dot" aria-hidden="true" /> {waits}
            </>
          ) : (
            before
          )}
        </span>
      </div>
      {state === "now" && <div className="body">{children}</div>}
    </li>
  );
}

function AppWords({ progress: { functions, apps } }: { readonly progress: Progress }) {
  const [first] = functions;
  if (first === undefined) return null;
  const at = apps.find(({ app }) => app === first.app)?.syncedAt ?? null;
  return (
    <>
      <Link to="/functions">
        <bdi>{visibleText(first.app || first.function)}</bdi>
      </Link>
      , {functions.length === 1 ? "1 function" : `${functions.length} functions`}
      {at !== null && (
        <>
          , <Time at={at} as="ago" />
        </>
      )}
    </>
  );
}

const EventWords = ({ progress: { event } }: { readonly progress: Progress }) =>
  event === null ? null : (
    <>
      <Link className="mono" to="/events/$event" params={{ event: event.internalId }}>
        <bdi>{visibleText(event.name)}</bdi>
      </Link>
      , <Time at={event.receivedAt} as="ago" />
    </>
  );

const RunWords = ({ progress: { run } }: { readonly progress: Progress }) =>
  run === null ? null : (
    <>
      <Link to="/runs/$run" params={{ run: run.id }}>
        <bdi>{visibleText(run.function)}</bdi>
      </Link>{" "}
      {run.state}
      {run.endedAt !== null && run.startedAt !== null && ` in ${durationWords(run.endedAt - run.startedAt)}`}
    </>
  );
