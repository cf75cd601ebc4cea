// Steps of one kind as one line that counts them and shows their errors; and those of them that are worth no line of their own.
import { Icon } from "../../parts/icon.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import type { Scale } from "./fold.ts";
import type { Lane } from "./lanes.ts";
import type { Bar, Row } from "./rows.ts";
import type { Series } from "./series.ts";
import { Track } from "./waterfall-row.tsx";
import "./series.css";

interface FoldProps {
  readonly scale: Scale;
  readonly now: number | null;
  readonly onTurn: (id: string) => void;
}

// As many as can be told apart on a track.
const errorsDrawn = 100;

/** The time they took together, pale, and every error of theirs over it. */
function barsOf(rows: readonly Row[]): Bar[] {
  const from = Math.min(...rows.map((row) => row.from));
  const isOpen = rows.some(({ to }) => to === null);
  const to = isOpen ? null : Math.max(...rows.map((row) => row.to!));
  const errors = rows.flatMap(({ bars }) => bars.filter(({ kind }) => kind === "error"));
  const drawn = errors
    .slice(0, errorsDrawn)
    .map(({ kind, from: begin, to: end }): Bar => ({ kind, from: begin, to: end }));
  return [{ kind: isOpen ? "wait" : "rest", from, to }, ...drawn];
}

const lengthWords = ([whole]: readonly Bar[]): string =>
  whole!.to === null ? "so far" : durationWords(whole!.to - whole!.from);

function FoldButton({
  id,
  isOpen,
  onTurn,
  text,
}: { readonly id: string; readonly isOpen: boolean; readonly text: string } & Pick<FoldProps, "onTurn">) {
  return (
    <>
      <Icon name={isOpen ? "down" : "right"} />
      <button
        type="button"
        className="name"
        data-lane={id}
        data-fold={isOpen ? "open" : "closed"}
        aria-expanded={isOpen}
        onClick={() => onTurn(id)}
      >
        <bdi className="cut">{visibleText(text)}</bdi>
      </button>
    </>
  );
}

export function SeriesLane({
  lane,
  scale,
  now,
  onTurn,
}: FoldProps & { readonly lane: Extract<Lane, { kind: "series" }> }) {
  const { series, isOpen, id } = lane;
  const bars = barsOf(series.rows);
  return (
    <>
      <div className="label">
        <FoldButton id={id} isOpen={isOpen} onTurn={onTurn} text={`${series.name} × ${series.rows.length}`} />
        <span className="length">{lengthWords(bars)}</span>
      </div>
      <Track bars={bars} note={null} scale={scale} now={now} />
      <p className="sum">
        <Sum series={series} />
      </p>
    </>
  );
}

function Sum({ series }: { readonly series: Series }) {
  const { rows, completed, failed, afterError, slow, slowOverMs, p50, p95 } = series;
  const open = rows.length - completed - failed;
  return (
    <>
      {completed > 0 && (
        <span>
          <b className="completed">{completed}</b> completed
        </span>
      )}
      {failed > 0 && (
        <span>
          <b className="failed">{failed}</b> failed
        </span>
      )}
      {open > 0 && (
        <span>
          <b className="waiting">{open}</b> open
        </span>
      )}
      {afterError > 0 && (
        <span>
          <b className="failed">{afterError}</b> after an error
        </span>
      )}
      {slow > 0 && (
        <span>
          <b>{slow}</b> over {durationWords(slowOverMs!)}
        </span>
      )}
      {p50 !== null && (
        <span>
          p50 <b>{durationWords(p50)}</b>
        </span>
      )}
      {p95 !== null && (
        <span>
          p95 <b>{durationWords(p95)}</b>
        </span>
      )}
    </>
  );
}

export function RestLane({ lane, scale, now, onTurn }: FoldProps & { readonly lane: Extract<Lane, { kind: "rest" }> }) {
  return (
    <>
      <div className="label">
        <FoldButton id={lane.id} isOpen={lane.isOpen} onTurn={onTurn} text={lane.words} />
      </div>
      <Track bars={barsOf(lane.rows)} note={null} scale={scale} now={now} />
    </>
  );
}
