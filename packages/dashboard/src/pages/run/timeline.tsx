// The timeline as a waterfall, or as a table. Which part of it, folded or not, and in which form stands in the address.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Axis } from "./axis.tsx";
import { scaleOf } from "./fold.ts";
import { lanesOf } from "./lanes.ts";
import { rangeOf, rowsOf, workOf } from "./rows.ts";
import type { EffectItem, RunAnswer, TimelineEntry } from "./run-data.ts";
import { isOpen } from "./run-data.ts";
import { StepTable } from "./step-table.tsx";
import { offsetWords } from "./ticks.ts";
import { Waterfall } from "./waterfall.tsx";
import "./bars.css";
import "./timeline.css";

interface TimelineProps {
  readonly answer: RunAnswer;
  readonly effects: readonly EffectItem[];
  readonly now: number;
  readonly selected: TimelineEntry | undefined;
  readonly onSelect: (entry: TimelineEntry) => void;
}

const offsetOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

export function Timeline({ answer, effects, now, selected, onSelect }: TimelineProps) {
  const { run, workers } = answer;
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const [unfoldedLanes, setUnfoldedLanes] = useState<ReadonlySet<string>>(new Set());
  const rows = rowsOf(run, { now, effects, workers });
  const whole = rangeOf(run, now);
  const [from, to] = [offsetOf(search.from), offsetOf(search.to)];
  const zoom = from !== null && to !== null && to > from ? { from: whole.from + from, to: whole.from + to } : null;
  const work = workOf(rows, now);
  const scale = scaleOf(zoom ?? whole, work, { unfold: search.unfold === "1" });
  const canFold =
    search.unfold === "1" ? scaleOf(zoom ?? whole, work, { unfold: false }).folds.length > 0 : scale.folds.length > 0;
  const isTable = search.view === "table";
  const change = (over: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...over }), replace: true, resetScroll: false });
  const toggleLane = (id: string, unfold: boolean) => {
    const next = new Set(unfoldedLanes);
    if (unfold) next.add(id);
    else next.delete(id);
    setUnfoldedLanes(next);
  };
  return (
    <section className="card timeline" aria-label="Timeline">
      <header>
        <h2>Timeline</h2>
        {!isTable && (
          <ul className="legend" aria-hidden="true">
            <li className="is-value">value</li>
            <li className="is-error">error</li>
            <li className="is-wait">wait</li>
          </ul>
        )}
        {zoom !== null && (
          <Button look="link" small onClick={() => change({ from: undefined, to: undefined })}>
            {offsetWords(from!)} to {offsetWords(to!)}: show the whole run
          </Button>
        )}
        {canFold && !isTable && (
          <Button look="link" small onClick={() => change({ unfold: search.unfold === "1" ? undefined : "1" })}>
            {search.unfold === "1" ? "Fold waits" : "Unfold waits"}
          </Button>
        )}
        <Button look="link" small onClick={() => change({ view: isTable ? undefined : "table" })}>
          {isTable ? "Show as waterfall" : "Show as table"}
        </Button>
      </header>
      {isTable ? (
        <StepTable rows={rows} run={run} workers={workers} />
      ) : (
        <>
          <Axis
            scale={scale}
            start={whole.from}
            onZoom={(span) =>
              change({ from: `${Math.round(span.from - whole.from)}`, to: `${Math.round(span.to - whole.from)}` })
            }
          />
          <Waterfall
            lanes={lanesOf(rows, unfoldedLanes)}
            scale={scale}
            now={isOpen(run) ? now : null}
            run={run}
            selected={selected}
            unfolded={unfoldedLanes}
            onSelect={onSelect}
            onToggle={toggleLane}
          />
        </>
      )}
    </section>
  );
}
