// The timeline as a waterfall, or as a table. Its part, folded or not, its steps and its form stand in the address.
// The parts that say where one is stay at the top while a thousand rows go by.
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback, useMemo, useRef, useState } from "react";
import { useKeys } from "../../keys.ts";
import { Button } from "../../parts/button.tsx";
import { FilterText, Segments } from "../../parts/field.tsx";
import { Axis } from "./axis.tsx";
import { type Span, scaleOf } from "./fold.ts";
import { countsOf, lanesOf, type Show } from "./lanes.ts";
import { type Row, rangeOf, rowsOf, workOf } from "./rows.ts";
import type { EffectItem, RunAnswer, TimelineEntry } from "./run-data.ts";
import { isOpen } from "./run-data.ts";
import { stepParams } from "./run-words.ts";
import { findSeries, hasError } from "./series.ts";
import { StepMap } from "./step-map.tsx";
import { StepTable } from "./step-table.tsx";
import { offsetWords } from "./ticks.ts";
import { type LaneFocus, Waterfall } from "./waterfall.tsx";
import "./bars.css";
import "./timeline.css";

interface TimelineProps {
  readonly answer: RunAnswer;
  readonly effects: readonly EffectItem[];
  readonly now: number;
  readonly selected: TimelineEntry | undefined;
  readonly onSelect: (entry: TimelineEntry) => void;
}

// A dozen steps are seen at once: they need neither map nor filter.
const shortMax = 12;
// Top bar, filter, map and axis.
const stuckPx = 180;

const offsetOf = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;

export function Timeline({ answer, effects, now, selected, onSelect }: TimelineProps) {
  const { run, workers } = answer;
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const [seen, setSeen] = useState<Span | null>(null);
  const focus = useRef<LaneFocus>(null);
  const rows = useMemo(() => rowsOf(run, { now, effects, workers }), [run, now, effects, workers]);
  const counts = useMemo(() => countsOf(rows), [rows]);
  const hasSeries = useMemo(() => findSeries(rows).size > 0, [rows]);
  const paramOf = useMemo(() => stepParams(run), [run]);
  const whole = rangeOf(run, now);
  const [from, to] = [offsetOf(search.from), offsetOf(search.to)];
  const isZoomed = from !== null && to !== null && to > from;
  const [shownFrom, shownTo] = isZoomed ? [whole.from + from, whole.from + to] : [whole.from, whole.to];
  const isUnfolded = search.unfold === "1";
  const { scale, wholeScale, canFold } = useMemo(() => {
    const work = workOf(rows, now);
    const folded = scaleOf({ from: shownFrom, to: shownTo }, work, { unfold: false });
    const range = { from: whole.from, to: whole.to };
    return {
      scale: isUnfolded ? scaleOf({ from: shownFrom, to: shownTo }, work, { unfold: true }) : folded,
      wholeScale: scaleOf(range, work, { unfold: isUnfolded }),
      canFold: folded.folds.length > 0,
    };
  }, [rows, now, shownFrom, shownTo, isUnfolded, whole.from, whole.to]);
  const show: Show = search.steps ?? (hasSeries ? "slow" : "all");
  const find = search.find ?? "";
  const selectedId = selected === undefined ? null : selected.stepId === "" ? "function" : selected.stepId;
  const lanes = useMemo(() => {
    const within = isZoomed ? rows.filter((row) => row.from <= shownTo && (row.to ?? now) >= shownFrom) : rows;
    return lanesOf(within, { show, find, turned, selected: selectedId });
  }, [rows, isZoomed, shownFrom, shownTo, now, show, find, turned, selectedId]);
  const isTable = search.view === "table";
  const isLong = counts.all > shortMax;
  const change = useCallback(
    (over: Partial<typeof search>) =>
      void navigate({ search: (before) => ({ ...before, ...over }), replace: true, resetScroll: false }),
    [navigate],
  );
  const zoom = (span: Span) =>
    change({ from: `${Math.round(span.from - whole.from)}`, to: `${Math.round(span.to - whole.from)}` });
  const turn = useCallback((id: string) => {
    setTurned((before) => {
      const next = new Set(before);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  }, []);
  const go = (row: Row) => {
    if (row.entry !== null) onSelect(row.entry);
    // Its line is there once it is selected.
    requestAnimationFrame(() => requestAnimationFrame(() => focus.current?.show(row.id)));
  };
  const nextError = () => {
    const wrong = rows.filter(hasError);
    const at = wrong.findIndex(({ entry }) => entry === selected);
    const next = wrong[(at + 1) % wrong.length];
    if (next !== undefined) go(next);
  };
  useKeys([
    { keys: "s", words: "slow and failed steps only", run: () => change({ steps: show === "slow" ? "all" : "slow" }) },
    { keys: "e", words: "next error", run: nextError },
    { keys: "t", words: "timeline as table", run: () => change({ view: isTable ? undefined : "table" }) },
    { keys: "0", words: "whole run", run: () => change({ from: undefined, to: undefined }) },
  ]);
  return (
    <section className="card timeline" aria-label="Timeline">
      <div className="stick">
        <header>
          <h2>Timeline</h2>
          {isLong && (
            <Segments
              label="Steps"
              value={show}
              onChange={(value) => change({ steps: value as Show })}
              choices={[
                { value: "all", text: `All ${counts.all.toLocaleString("en")}` },
                { value: "slow", text: `Slow or failed ${counts.slow}` },
                { value: "failed", text: `Failed ${counts.failed}` },
              ]}
            />
          )}
          {isLong && (
            <FilterText
              label="Find a step"
              value={find}
              onChange={(text) => change({ find: text === "" ? undefined : text })}
            />
          )}
          {!isLong && !isTable && (
            <ul className="legend" aria-hidden="true">
              <li className="is-value">value</li>
              <li className="is-error">error</li>
              <li className="is-wait">wait</li>
            </ul>
          )}
          {isZoomed && (
            <Button look="link" small onClick={() => change({ from: undefined, to: undefined })}>
              {offsetWords(from)} to {offsetWords(to)}: show the whole run
            </Button>
          )}
          {canFold && !isTable && (
            <Button look="link" small onClick={() => change({ unfold: isUnfolded ? undefined : "1" })}>
              {isUnfolded ? "Fold waits" : "Unfold waits"}
            </Button>
          )}
          <Button look="link" small onClick={() => change({ view: isTable ? undefined : "table" })}>
            {isTable ? "Show as waterfall" : "Show as table"}
          </Button>
        </header>
        {!isTable && isLong && (
          <StepMap
            rows={rows}
            scale={wholeScale}
            seen={isZoomed ? { from: shownFrom, to: shownTo } : seen}
            now={now}
            onZoom={zoom}
            onGo={go}
          />
        )}
        {!isTable && <Axis scale={scale} start={whole.from} onZoom={zoom} />}
      </div>
      {lanes.length === 0 && (
        <p className="quiet none">
          {find !== ""
            ? "No step has this in its name."
            : show === "failed"
              ? "No step had an error."
              : "Nothing went on then."}
        </p>
      )}
      {isTable ? (
        <StepTable lanes={lanes} runId={run.id} paramOf={paramOf} workers={workers} stuckPx={stuckPx} />
      ) : (
        <Waterfall
          lanes={lanes}
          scale={scale}
          now={isOpen(run) ? now : null}
          runId={run.id}
          paramOf={paramOf}
          selected={selected}
          stuckPx={stuckPx}
          onSelect={onSelect}
          onTurn={turn}
          onSeen={setSeen}
          focus={focus}
        />
      )}
    </section>
  );
}
