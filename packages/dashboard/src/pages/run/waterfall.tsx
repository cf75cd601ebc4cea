// Rows of bars. A list of links: each row is its step's address, so Tab, middle click and a screen reader know what to do with it.
import type { KeyboardEvent } from "react";
import { useRef } from "react";
import { useKeys } from "../../keys.ts";
import type { Scale } from "./fold.ts";
import { FoldedLane } from "./folded-lane.tsx";
import type { Lane } from "./lanes.ts";
import type { RunDetail, TimelineEntry } from "./run-data.ts";
import { WaterfallRow } from "./waterfall-row.tsx";
import "./waterfall.css";

// Each is asked for by itself; as many as lanes are drawn before they fold.
const nestedMax = 12;

interface WaterfallProps {
  readonly lanes: readonly Lane[];
  readonly scale: Scale;
  /** Null for a run that has ended. */
  readonly now: number | null;
  readonly run: RunDetail;
  readonly selected: TimelineEntry | undefined;
  readonly unfolded: ReadonlySet<string>;
  readonly onSelect: (entry: TimelineEntry) => void;
  readonly onToggle: (id: string, unfold: boolean) => void;
}

export function Waterfall({ lanes, scale, now, run, selected, unfolded, onSelect, onToggle }: WaterfallProps) {
  const list = useRef<HTMLOListElement>(null);
  /** From where focus or, without it, the selection is. */
  const move = (by: number) => {
    const targets = [...(list.current?.querySelectorAll<HTMLElement>("[data-lane]") ?? [])];
    const focused = targets.indexOf(document.activeElement as HTMLElement);
    const at = focused >= 0 ? focused : targets.findIndex((each) => each.getAttribute("aria-current") === "true");
    const next = targets[Math.min(targets.length - 1, Math.max(0, at + by))];
    if (next === undefined) return;
    next.focus();
    const lane = lanes.find((each) => each.kind === "row" && each.row.id === next.dataset.lane);
    if (lane?.kind === "row" && lane.row.entry !== null) onSelect(lane.row.entry);
  };
  const hear = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    }
    const id = (event.target as HTMLElement).dataset.fold;
    if (id !== undefined && (event.key === "ArrowLeft" || event.key === "ArrowRight")) {
      event.preventDefault();
      onToggle(id, event.key === "ArrowRight");
    }
  };
  const invoking = lanes.flatMap((lane) =>
    lane.kind === "row" && lane.row.entry?.childRunId != null ? lane.row.id : [],
  );
  const nested = new Set(invoking.slice(0, nestedMax));
  useKeys([
    { keys: "j", words: "next step", run: () => move(1) },
    { keys: "k", words: "previous step", run: () => move(-1) },
  ]);
  return (
    <ol className="waterfall" ref={list} onKeyDown={hear}>
      {lanes.map((lane) =>
        lane.kind === "row" ? (
          <WaterfallRow
            key={lane.row.id}
            row={lane.row}
            bracket={lane.bracket}
            scale={scale}
            now={now}
            run={run}
            isSelected={lane.row.entry !== null && lane.row.entry === selected}
            nests={nested.has(lane.row.id)}
          />
        ) : (
          <FoldedLane
            key={`fold-${lane.id}`}
            lane={lane}
            scale={scale}
            now={now}
            isUnfolded={unfolded.has(lane.id)}
            onToggle={onToggle}
          />
        ),
      )}
    </ol>
  );
}
