// One step: its state, its name, how long it took, and its attempts on the track.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Icon } from "../../parts/icon.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Scale } from "./fold.ts";
import { InvokedRun } from "./invoked-run.tsx";
import type { Bracket } from "./lanes.ts";
import { type Bar, isRemark, type Row } from "./rows.ts";
import type { RunDetail } from "./run-data.ts";
import { count, stepParam } from "./run-words.ts";

interface WaterfallRowProps {
  readonly row: Row;
  readonly bracket: Bracket | null;
  readonly scale: Scale;
  readonly now: number | null;
  readonly run: RunDetail;
  readonly isSelected: boolean;
  /** Shows the run it invoked; otherwise its step's panel has the link. */
  readonly nests: boolean;
}

export function WaterfallRow({ row, bracket, scale, now, run, isSelected, nests }: WaterfallRowProps) {
  const { entry, state, words } = row;
  const name = <bdi className="cut">{visibleText(row.name)}</bdi>;
  const errors = entry?.attempts.filter(({ error }) => error !== null).length ?? 0;
  return (
    <li className={`row${isSelected ? " is-selected" : ""}${bracket === null ? "" : ` in-bracket is-${bracket}`}`}>
      <div className="label">
        {entry !== null && isRemark(entry) ? (
          <Icon name="explain" />
        ) : (
          <StateIcon state={state} words={entry === null ? row.name !== state : true} />
        )}
        {entry === null ? (
          <span className="name">{name}</span>
        ) : (
          <Link
            className="name"
            to="/runs/$run"
            params={{ run: run.id }}
            search={(before) => ({ ...before, step: stepParam(run, entry) })}
            replace
            resetScroll={false}
            data-lane={row.id}
            aria-current={isSelected ? "true" : undefined}
          >
            {name}
          </Link>
        )}
        {errors > 0 && <span className="spoken">{count(errors, "error")}</span>}
        <span className="length">{words}</span>
      </div>
      <Track bars={row.bars} note={row.note} scale={scale} now={now} />
      {entry?.childRunId != null && nests && <InvokedRun runId={entry.childRunId} scale={scale} now={now} />}
    </li>
  );
}

// A note needs this much of the track behind its bar; without it, it stands before the first.
const noteRoom = 0.24;
// "503, again in 1 s" is this wide at least.
const pauseWordsRoom = 0.15;

export function Track({
  bars,
  note,
  scale,
  now,
  children,
}: {
  readonly bars: readonly Bar[];
  readonly note: string | null;
  readonly scale: Scale;
  readonly now: number | null;
  readonly children?: ReactNode;
}) {
  const seen = bars.filter(({ from, to }) => (to ?? Number.POSITIVE_INFINITY) >= scale.from && from <= scale.to);
  const end = seen.reduce((last, { to }) => Math.max(last, to === null ? 1 : scale.at(to)), 0);
  const begin = seen.reduce((first, { from }) => Math.min(first, scale.at(from)), 1);
  return (
    <div className="track" aria-hidden="true">
      {scale.folds.map(({ from, left, width }) => (
        <span key={from} className="fold" style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
      ))}
      {seen.map((bar) => (
        <DrawnBar key={`${bar.kind}-${bar.from}-${bar.text ?? ""}`} bar={bar} scale={scale} />
      ))}
      {note !== null &&
        (seen.length === 0 ? (
          <span className="note-words">{visibleText(note)}</span>
        ) : end < 1 - noteRoom ? (
          <span className="note-words" style={{ left: `calc(${end * 100}% + 6px)` }}>
            {visibleText(note)}
          </span>
        ) : (
          begin > noteRoom && (
            <span className="note-words" style={{ right: `calc(${(1 - begin) * 100}% + 6px)` }}>
              {visibleText(note)}
            </span>
          )
        ))}
      {now !== null && now <= scale.to && <span className="now" style={{ left: `${scale.at(now) * 100}%` }} />}
      {children}
    </div>
  );
}

function DrawnBar({ bar, scale }: { readonly bar: Bar; readonly scale: Scale }) {
  const left = scale.at(bar.from);
  const width = (bar.to === null ? 1 : scale.at(bar.to)) - left;
  const text = bar.text === undefined ? null : visibleText(bar.text);
  return (
    <>
      <span
        className={`bar is-${bar.kind}${bar.to === null ? " is-open" : ""}`}
        style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
        title={text ?? undefined}
      >
        {bar.kind !== "pause" && bar.kind !== "skipped" && text}
      </span>
      {(bar.kind === "pause" || bar.kind === "skipped") && text !== null && width > pauseWordsRoom && (
        <span className="pause-words" style={{ left: `${left * 100}%`, width: `${width * 100}%` }}>
          {text}
        </span>
      )}
    </>
  );
}
