// One step: its state, its name, how long it took, and its attempts on the track.
import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";
import { Icon } from "../../parts/icon.tsx";
import { StateIcon } from "../../parts/state-icon.tsx";
import { visibleText } from "../../parts/visible-text.ts";
import type { Scale } from "./fold.ts";
import { InvokedRun } from "./invoked-run.tsx";
import type { Lane } from "./lanes.ts";
import { type Bar, isRemark } from "./rows.ts";
import { count } from "./run-words.ts";

interface WaterfallRowProps {
  readonly lane: Extract<Lane, { kind: "row" }>;
  readonly scale: Scale;
  readonly now: number | null;
  readonly runId: string;
  /** This step in the address. */
  readonly param: string;
  readonly isSelected: boolean;
  /** Shows the run it invoked; otherwise its step's panel has the link. */
  readonly nests: boolean;
}

/** The contents of a line; the list around it knows its place. Drawn anew only when something of it changed. */
export const WaterfallRow = memo(function WaterfallRow(props: WaterfallRowProps) {
  const { lane, scale, now, runId, param, isSelected, nests } = props;
  const { row } = lane;
  const { entry, state, words } = row;
  const name = <bdi className="cut">{visibleText(row.name)}</bdi>;
  const errors = entry?.attempts.filter(({ error }) => error !== null).length ?? 0;
  return (
    <>
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
            params={{ run: runId }}
            search={(before) => ({ ...before, step: param })}
            replace
            resetScroll={false}
            data-lane={lane.id}
            aria-current={isSelected ? "true" : undefined}
          >
            {name}
          </Link>
        )}
        {errors > 0 && <span className="spoken">{count(errors, "error")}</span>}
        <span className="length">{words}</span>
      </div>
      <Track bars={row.bars} note={noteOf(lane, scale)} scale={scale} now={now} />
      {entry?.childRunId != null && nests && <InvokedRun runId={entry.childRunId} scale={scale} now={now} />}
    </>
  );
});

/** Behind the bars: what the row has to say of itself, why it was tried again where a pause has no room for it, or that it was slow. */
function noteOf({ row, isSlow }: WaterfallRowProps["lane"], scale: Scale): string | null {
  const pauses = row.bars.filter(({ kind }) => kind === "pause");
  const isSaid = pauses.some((each) => hasRoom(each, scale));
  return row.note ?? (isSaid ? null : pauses.at(-1)?.text) ?? (isSlow ? "slow" : null);
}

const widthOf = ({ from, to }: Bar, scale: Scale): number => (to === null ? 1 : scale.at(to)) - scale.at(from);

// A note needs this much of the track behind its bar; without it, it stands before the first.
const noteRoom = 0.24;
// One character of a note, on a track as narrow as it gets beside a panel.
const characterRoom = 0.017;
const hasRoom = (bar: Bar, scale: Scale): boolean => widthOf(bar, scale) > (bar.text?.length ?? 0) * characterRoom;

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
  // A bar with a number on it is never narrower than the number.
  const hasNumber = seen.at(-1)?.text !== undefined;
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
          <span className="note-words" style={{ left: `calc(${end * 100}% + ${hasNumber ? 20 : 8}px)` }}>
            {visibleText(note)}
          </span>
        ) : (
          begin > noteRoom && (
            <span className="note-words is-before" style={{ right: `calc(${(1 - begin) * 100}% + 6px)` }}>
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
  const width = widthOf(bar, scale);
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
      {(bar.kind === "pause" || bar.kind === "skipped") && text !== null && hasRoom(bar, scale) && (
        <span className="pause-words" style={{ left: `${left * 100}%`, width: `${width * 100}%` }}>
          {text}
        </span>
      )}
    </>
  );
}
