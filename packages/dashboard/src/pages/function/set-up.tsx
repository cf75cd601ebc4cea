// The function's set-up, as it was registered; its limits with how much of each is taken; and its next tick.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { flowLines } from "../../../../idem/src/flow/words.ts";
import { behindWords } from "../../parts/line-words.ts";
import { Time } from "../../parts/time.tsx";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { type FunctionInFigures, triggerWords, windowWords } from "../functions/function-data.ts";
import { KeyCell } from "../functions/key-cell.tsx";

export function SetUp({ of }: { readonly of: FunctionInFigures }) {
  const lines = [...keyLines(of), ...limitLines(of), ...otherLines(of)];
  return (
    <section className="card set-up">
      <header>
        <h2>As it is registered</h2>
      </header>
      <dl>
        {lines.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type Line = readonly [string, ReactNode];

const missingWords = {
  run: "it runs all the same, and the radar says so",
  reject: "the event is held for a person",
} as const;
const failureWords = { keep: "the key stays taken", release: "the key is given back" } as const;

function keyLines(of: FunctionInFigures): Line[] {
  const { key } = of;
  if (key === null) return [["Key", <KeyCell key="key" of={of} />]];
  return [
    ["Key", <KeyCell key="key" of={of} />],
    ["Window", windowWords(key)],
    ["When it fails", failureWords[key.afterFailure]],
    ["When the key is missing", missingWords[key.onMissing]],
  ];
}

const limitLines = ({ flow }: FunctionInFigures): Line[] =>
  flowLines(flow, lengthWords).map(({ name, text, isCode }) => [
    name,
    isCode ? <code key={name}>{visibleText(text)}</code> : visibleText(text),
  ]);

function otherLines({ triggers, retries, startTimeoutMs, finishTimeoutMs, runtime, app }: FunctionInFigures): Line[] {
  const lines: Line[] = [
    [
      "Triggers",
      <ul key="triggers">
        {triggers.map((trigger) => (
          <li key={triggerWords(trigger)}>{visibleText(triggerWords(trigger))}</li>
        ))}
      </ul>,
    ],
    ["Attempts", `${retries + 1} for each step`],
  ];
  if (startTimeoutMs !== null) lines.push(["Must begin within", lengthWords(startTimeoutMs)]);
  if (finishTimeoutMs !== null) lines.push(["Must end within", lengthWords(finishTimeoutMs)]);
  lines.push([
    "Runs in",
    runtime === null ? (
      "a process that has its code"
    ) : (
      <span key="runtime">
        {runtime.url === null ? "workers that connect" : <code>{visibleText(runtime.url)}</code>}
      </span>
    ),
  ]);
  // Functions of the server's own process belong to no app.
  if (app !== "")
    lines.push([
      "App",
      <Link key="app" to="/apps">
        {visibleText(app)}
      </Link>,
    ]);
  return lines;
}

/** "3 of 5" for each limit, and the next ticks. */
export function Ahead({
  of: { function: fn, limits, line, open, nextTicks, triggers, pausedAt, pending },
}: {
  readonly of: FunctionInFigures;
}) {
  const hasCron = triggers.some((trigger) => "cron" in trigger);
  return (
    <section className="card ahead">
      <header>
        <h2>Now</h2>
      </header>
      <ul>
        <li>
          <span>At work</span>
          <b>{open.running}</b>
        </li>
        {limits.map(({ limit, key, scope, used }) => (
          <li key={`${limit} ${key} ${scope}`}>
            <span>
              Limit{key === null ? "" : visibleText(` for each ${key}`)}
              {scope === "fn" ? "" : scope === "env" ? ", shared in the environment" : ", shared in the store"}
            </span>
            <b>{used === null ? `${limit} each` : `${used} of ${limit}`}</b>
          </li>
        ))}
        <li>
          <span>
            In line
            {line.behind !== null && (
              <small className="quiet">{visibleText(` behind ${behindWords(line.behind)}`)}</small>
            )}
          </span>
          <b>
            {line.waiting === 0 ? (
              0
            ) : (
              <Link to="/functions/$fn/line" params={{ fn }}>
                {line.waiting.toLocaleString("en-GB")}
              </Link>
            )}
          </b>
        </li>
        <li>
          <span>Waiting for time or events</span>
          <b>{open.waiting}</b>
        </li>
        {pending.paused + pending.held > 0 && (
          <li className="waiting">
            <span>Events that wait for a person</span>
            <b>{pending.paused + pending.held}</b>
          </li>
        )}
      </ul>
      {hasCron && (
        <>
          <h3>Next ticks</h3>
          {pausedAt !== null ? (
            <p className="quiet">None while it is paused.</p>
          ) : (
            <ol>
              {nextTicks.map((at) => (
                <li key={at}>
                  <Time at={at} />
                </li>
              ))}
            </ol>
          )}
        </>
      )}
    </section>
  );
}
