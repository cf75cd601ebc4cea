// Three charts of one function: how runs ended, how long they took, and how many had begun or stood in line.
import { useMemo } from "react";
import type uPlot from "uplot";
import { Chart } from "../../parts/chart.tsx";
import { ErrorPart } from "../../parts/error-part.tsx";
import { Segments } from "../../parts/field.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Time } from "../../parts/time.tsx";
import { durationWords } from "../../parts/time-words.ts";
import { loadOptions, outcomeOptions, timeOptions } from "./chart-options.ts";
import { type ChartRange, type FunctionCharts as Charts, chartRanges, useCharts } from "./charts-data.ts";

const rangeWords: Readonly<Record<ChartRange, string>> = { "1h": "1 h", "24h": "24 h", "7d": "7 d", "30d": "30 d" };

interface FunctionChartsProps {
  readonly fn: string;
  readonly range: ChartRange;
  readonly onRange: (range: ChartRange) => void;
  readonly limit: number | null;
}

export function FunctionCharts({ fn, range, onRange, limit }: FunctionChartsProps) {
  const { data, error, refetch } = useCharts(fn, range);
  return (
    <section className="card function-charts">
      <header>
        <h2>Over time</h2>
        <Segments
          label="Last"
          value={range}
          choices={chartRanges.map((value) => ({ value, text: rangeWords[value] }))}
          onChange={(value) => onRange(value as ChartRange)}
        />
      </header>
      {error !== null && data === undefined ? (
        <ErrorPart error={error} what="The charts could not be drawn. Runs go on." onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton rows={5} />
      ) : (
        <>
          {data.from > data.since && (
            <p className="hint">
              There were more runs than are counted here; what is shown begins at <Time at={data.from} />.
            </p>
          )}
          <Three charts={data} limit={limit} />
        </>
      )}
    </section>
  );
}

function Three({ charts: { buckets }, limit }: { readonly charts: Charts; readonly limit: number | null }) {
  const times = useMemo(() => buckets.map(({ at }) => at / 1_000), [buckets]);
  const sum = (pick: (bucket: Charts["buckets"][number]) => number) =>
    buckets.reduce((total, bucket) => total + pick(bucket), 0);
  const completed = sum((bucket) => bucket.completed);
  const failed = sum((bucket) => bucket.failed);
  const withTimes = buckets.filter(({ p95Ms }) => p95Ms !== null);
  const slowest = Math.max(0, ...withTimes.map(({ p95Ms }) => p95Ms!));
  const usual = Math.max(0, ...withTimes.map(({ p50Ms }) => p50Ms!));
  const isLog = withTimes.some(({ p50Ms, p95Ms }) => p95Ms! > 10 * Math.max(1, p50Ms!));
  const last = buckets.at(-1);
  const drawTimes = useMemo(() => timeOptions(isLog), [isLog]);
  const drawLoad = useMemo(() => loadOptions(limit), [limit]);
  const outcomes = useMemo(
    (): uPlot.AlignedData => [times, buckets.map((b) => b.completed), buckets.map((b) => b.failed)],
    [times, buckets],
  );
  const took = useMemo(
    (): uPlot.AlignedData => [times, buckets.map((b) => b.p50Ms), buckets.map((b) => b.p95Ms)],
    [times, buckets],
  );
  const load = useMemo(
    (): uPlot.AlignedData => [times, buckets.map((b) => b.begun), buckets.map((b) => b.due)],
    [times, buckets],
  );
  // Stretches in which nothing happened say nothing in a table.
  const told = buckets.filter((b) => b.completed + b.failed + b.cancelled + b.begun + b.due > 0);
  return (
    <div className="three">
      <div>
        <h3>
          How runs ended
          <span className="numbers">
            <b className="completed">■ {completed} completed</b>{" "}
            <b className={failed > 0 ? "failed" : "faint"}>▨ {failed} failed</b>
          </span>
        </h3>
        <Chart
          label={
            failed === 0 ? `${completed} runs completed, none failed` : `${completed} runs completed, ${failed} failed`
          }
          data={outcomes}
          options={outcomeOptions}
          table={{
            columns: ["From", "Completed", "Failed"],
            rows: told.map((b) => [<Time key="at" at={b.at} />, b.completed, b.failed]),
          }}
        />
      </div>
      <div>
        <h3>
          Run time{isLog ? ", log scale" : ""}
          <span className="numbers">
            <b className="running">━ p50</b> <b className="quiet">╌ p95</b>
          </span>
        </h3>
        <Chart
          label={
            withTimes.length === 0
              ? "No run ended in this time"
              : `Half of the runs took up to ${durationWords(usual)}, the slowest twentieth up to ${durationWords(slowest)} and more`
          }
          data={took}
          options={drawTimes}
          table={{
            columns: ["From", "p50", "p95"],
            rows: told.map((b) => [
              <Time key="at" at={b.at} />,
              b.p50Ms === null ? "" : durationWords(b.p50Ms),
              b.p95Ms === null ? "" : durationWords(b.p95Ms),
            ]),
          }}
        />
      </div>
      <div>
        <h3>
          Open runs
          <span className="numbers">
            <b className="running">━ {last?.begun ?? 0} begun</b> <b className="waiting">━ {last?.due ?? 0} in line</b>
          </span>
        </h3>
        <Chart
          label={`${last?.begun ?? 0} runs have begun and not ended, ${last?.due ?? 0} stand in line${limit === null ? "" : `, and ${limit} may work at once`}`}
          data={load}
          options={drawLoad}
          table={{
            columns: ["Until", "Begun", "In line"],
            rows: told.map((b) => [<Time key="at" at={b.at} />, b.begun, b.due]),
          }}
        />
      </div>
    </div>
  );
}
