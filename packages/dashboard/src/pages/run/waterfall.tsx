// Rows of bars. A list of links: each row is its step's address, so Tab, middle click and a screen reader know what to do with it.
import type { KeyboardEvent, Ref } from "react";
import { useEffect, useImperativeHandle } from "react";
import { useKeys } from "../../keys.ts";
import type { Scale, Span } from "./fold.ts";
import type { Lane } from "./lanes.ts";
import type { TimelineEntry } from "./run-data.ts";
import { RestLane, SeriesLane } from "./series-lane.tsx";
import { useVirtualRows } from "./virtual-rows.ts";
import { WaterfallRow } from "./waterfall-row.tsx";
import "./waterfall.css";

// Each is asked for by itself; as many as lanes are drawn before they fold.
const nestedMax = 12;
const rowPx = 37;
const seriesPx = 61;

/** Leads to a step wherever it is in the list. */
export interface LaneFocus {
  readonly show: (id: string) => void;
}

interface WaterfallProps {
  readonly lanes: readonly Lane[];
  readonly scale: Scale;
  /** Null for a run that has ended. */
  readonly now: number | null;
  readonly runId: string;
  readonly paramOf: (entry: TimelineEntry) => string;
  readonly selected: TimelineEntry | undefined;
  readonly stuckPx: number;
  readonly onSelect: (entry: TimelineEntry) => void;
  readonly onTurn: (id: string) => void;
  /** From when to when the steps on screen went on. */
  readonly onSeen: (span: Span | null) => void;
  readonly focus: Ref<LaneFocus>;
}

export function Waterfall(props: WaterfallProps) {
  const { lanes, scale, now, runId, paramOf, selected, stuckPx, onSelect, onTurn, onSeen, focus } = props;
  const { ref, indexes, beforePx, afterPx, seen, measure, scrollTo } = useVirtualRows<HTMLOListElement>({
    count: lanes.length,
    keyOf: (index) => lanes[index]!.id,
    heightOf: (index) => (lanes[index]!.kind === "series" ? seriesPx : rowPx),
    stuckPx,
  });
  useSeen(lanes, seen, onSeen);
  const link = (id: string) => ref.current?.querySelector<HTMLElement>(`[data-lane="${CSS.escape(id)}"]`) ?? null;
  const focusOn = (index: number) => {
    const { id } = lanes[index]!;
    if (link(id) === null) scrollTo(index);
    // A row out of sight is drawn in the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => link(id)?.focus()));
    link(id)?.focus();
  };
  useImperativeHandle(focus, () => ({
    show: (id) => {
      const index = lanes.findIndex((lane) => lane.id === id);
      if (index !== -1) scrollTo(index);
    },
  }));
  /** From where focus or, without it, the selection is. */
  const move = (by: number) => {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.lane;
    const at = lanes.findIndex((lane) =>
      focused !== undefined ? lane.id === focused : lane.kind === "row" && lane.row.entry === selected,
    );
    const next = lanes.findIndex((_, i) => i === nextStep(lanes, at, by));
    const lane = lanes[next];
    if (lane === undefined) return;
    focusOn(next);
    if (lane.kind === "row" && lane.row.entry !== null) onSelect(lane.row.entry);
  };
  const hear = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    }
    const { fold, lane } = (event.target as HTMLElement).dataset;
    const wanted = event.key === "ArrowLeft" ? "open" : event.key === "ArrowRight" ? "closed" : null;
    if (lane !== undefined && fold !== undefined && fold === wanted) {
      event.preventDefault();
      onTurn(lane);
    }
  };
  useKeys([
    { keys: "j", words: "next step", run: () => move(1) },
    { keys: "k", words: "previous step", run: () => move(-1) },
  ]);
  const nested = new Set(
    lanes
      .flatMap((lane) => (lane.kind === "row" && lane.row.entry?.childRunId != null ? lane.id : []))
      .slice(0, nestedMax),
  );
  return (
    <ol className="waterfall" ref={ref} onKeyDown={hear}>
      {beforePx > 0 && <li className="gap" aria-hidden="true" style={{ height: beforePx }} />}
      {indexes.map((index) => {
        const lane = lanes[index];
        if (lane === undefined) return null;
        const isSelected = lane.kind === "row" && lane.row.entry !== null && lane.row.entry === selected;
        return (
          <li
            key={lane.id}
            data-index={index}
            ref={measure}
            className={classOf(lane, isSelected)}
            aria-setsize={lanes.length}
            aria-posinset={index + 1}
          >
            {lane.kind === "row" ? (
              <WaterfallRow
                lane={lane}
                scale={scale}
                now={now}
                runId={runId}
                param={lane.row.entry === null ? "" : paramOf(lane.row.entry)}
                isSelected={isSelected}
                nests={nested.has(lane.id)}
              />
            ) : lane.kind === "series" ? (
              <SeriesLane lane={lane} scale={scale} now={now} onTurn={onTurn} />
            ) : (
              <RestLane lane={lane} scale={scale} now={now} onTurn={onTurn} />
            )}
          </li>
        );
      })}
      {afterPx > 0 && <li className="gap" aria-hidden="true" style={{ height: afterPx }} />}
    </ol>
  );
}

function classOf(lane: Lane, isSelected: boolean): string {
  if (lane.kind === "series") return "row is-series";
  if (lane.kind === "rest") return "row is-rest in-series";
  const bracket = lane.bracket === null ? "" : ` in-bracket is-${lane.bracket}`;
  return `row${isSelected ? " is-selected" : ""}${lane.isInner ? " in-series" : ""}${bracket}`;
}

/** The next line that is a step or a fold: what was before the first step is neither. */
function nextStep(lanes: readonly Lane[], at: number, by: number): number {
  for (let i = at + by; i >= 0 && i < lanes.length; i += by) {
    const lane = lanes[i]!;
    if (lane.kind !== "row" || lane.row.entry !== null) return i;
  }
  return at;
}

function useSeen(
  lanes: readonly Lane[],
  seen: { first: number; last: number } | null,
  onSeen: (span: Span | null) => void,
) {
  const span = seen === null ? null : spanOf(lanes.slice(seen.first, seen.last + 1));
  const [from, to] = [span?.from ?? null, span?.to ?? null];
  useEffect(() => onSeen(from === null || to === null ? null : { from, to }), [from, to, onSeen]);
}

/** A series' own line says nothing of where one is: it goes over all of its steps. */
function spanOf(lanes: readonly Lane[]): Span | null {
  const rows = lanes.flatMap((lane) => (lane.kind === "row" ? [lane.row] : lane.kind === "rest" ? lane.rows : []));
  const timed = rows.filter(({ bars }) => bars.length > 0);
  if (timed.length === 0) return null;
  return {
    from: timed.reduce((first, { from }) => Math.min(first, from), Number.POSITIVE_INFINITY),
    to: timed.reduce((last, { to }) => Math.max(last, to ?? Number.POSITIVE_INFINITY), 0),
  };
}
