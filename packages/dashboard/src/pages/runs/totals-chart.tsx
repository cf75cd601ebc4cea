// First runs, suppressed and slipped through over the time: has the trouble a shape? Dragging over the bars sets the time.
import { useCallback, useMemo, useRef } from "react";
import type uPlot from "uplot";
import { Chart, type ChartOptions } from "../../parts/chart.tsx";
import { type ChartColours, hatch } from "../../parts/chart-colours.ts";
import { stackedBars } from "../../parts/stacked-bars.ts";
import { clockOf, dateOf } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import { ticksOf, tickWords } from "./chart-ticks.ts";
import { counted } from "./group-words.ts";
import type { TotalsAnswer } from "./groups-data.ts";

interface TotalsChartProps {
  readonly totals: TotalsAnswer;
  readonly range: string;
  readonly onSelect: (since: string, until: string) => void;
}

const stripPx = 74;
const dayMs = 24 * 3_600_000;

export function TotalsChart({ totals, range, onSelect }: TotalsChartProps) {
  const utc = useSettings().zone === "utc";
  const { buckets, bucketMs } = totals;
  const data = useMemo(
    (): uPlot.AlignedData => [
      buckets.map(({ at }) => at / 1000),
      buckets.map(({ first }) => first),
      buckets.map(({ suppressed }) => suppressed),
      buckets.map(({ slipped }) => slipped),
    ],
    [buckets],
  );
  const now = useRef({ bucketMs, utc, onSelect });
  now.current = { bucketMs, utc, onSelect };
  const options = useCallback((colours: ChartColours) => optionsOf(colours, now), []);
  const table = useMemo(() => {
    const last = buckets.at(-1)?.at ?? 0;
    const from = (at: number) =>
      bucketMs >= dayMs
        ? dateOf(at, last, utc)
        : `${dateOf(at, last, utc)}, ${clockOf(at, { utc, millis: false }).slice(0, 5)}`;
    const rows = buckets
      .filter(({ asked }) => asked > 0)
      .map(({ at, asked, first, suppressed, slipped }) => [from(at), asked, first, suppressed, slipped]);
    return { columns: ["From", "Asked", "First runs", "Suppressed", "Slipped through"], rows };
  }, [buckets, bucketMs, utc]);
  return <Chart label={sentenceOf(totals, range)} data={data} options={options} height={stripPx} table={table} />;
}

function sentenceOf({ buckets, slipped, suppressed }: TotalsAnswer, range: string): string {
  const bars = buckets.filter((each) => each.slipped > 0).length;
  const what =
    slipped === 0
      ? `Nothing slipped through, ${counted(suppressed, "duplicate was", "duplicates were")} suppressed`
      : `Slipped-through runs in ${bars} of ${counted(buckets.length, "bar")}`;
  return `${what}: ${range}. Drag to set the time.`;
}

// A press that moved less is a click.
const dragPx = 4;

type Now = {
  readonly current: {
    readonly bucketMs: number;
    readonly utc: boolean;
    readonly onSelect: (since: string, until: string) => void;
  };
};

function optionsOf(colours: ChartColours, now: Now): ChartOptions {
  const quiet = {
    stroke: colours["text-3"],
    ticks: { show: false },
    grid: { show: false },
    font: "11px system-ui, -apple-system, Segoe UI, Roboto, sans-serif",
  };
  return {
    padding: [4, 0, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: dragPx } },
    scales: {
      x: { time: false, range: (chart) => endsOf(chart, now.current.bucketMs) },
      y: { range: (chart) => [0, Math.max(1, highest(chart))] },
    },
    axes: [
      {
        ...quiet,
        size: 20,
        gap: 2,
        splits: (chart) => {
          const [from, to] = endsOf(chart, now.current.bucketMs);
          return ticksOf(from * 1000, to * 1000, chart.bbox.width / devicePixelRatio, now.current.utc).map(
            (at) => at / 1000,
          );
        },
        values: (chart, splits) => {
          const [from, to] = endsOf(chart, now.current.bucketMs);
          return splits.map((at) => tickWords(at * 1000, (to - from) * 1000, now.current.utc));
        },
      },
      { show: false },
    ],
    series: [
      {},
      { label: "First runs", paths: () => null, points: { show: false } },
      { label: "Suppressed", paths: () => null, points: { show: false } },
      { label: "Slipped through", paths: () => null, points: { show: false } },
    ],
    plugins: [
      stackedBars([
        { name: "First runs", fill: () => `${colours.edge}8c` },
        {
          name: "Suppressed",
          fill: (context) => hatch(context, colours.suppressed, colours["suppressed-bg"], "across"),
        },
        { name: "Slipped through", fill: () => colours["doubled-fill"], isLoud: true },
      ]),
    ],
    hooks: {
      setSelect: [
        (chart) => {
          const { left, width } = chart.select;
          if (width < dragPx) return;
          const [since, until] = [chart.posToVal(left, "x"), chart.posToVal(left + width, "x")].map((at) =>
            new Date(Math.round(at) * 1000).toISOString(),
          );
          chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          now.current.onSelect(since!, until!);
        },
      ],
    },
  };
}

function endsOf(chart: uPlot, bucketMs: number): [number, number] {
  const times = chart.data[0];
  return times.length === 0 ? [0, 1] : [times[0]!, times.at(-1)! + bucketMs / 1000];
}

// Room over a bar: for the pixels a slipped-through run has at least.
const headroom = 1.1;

function highest(chart: uPlot): number {
  const [times, ...counts] = chart.data;
  let most = 0;
  for (let i = 0; i < times.length; i++) {
    let sum = 0;
    for (const each of counts) sum += each[i] ?? 0;
    most = Math.max(most, sum);
  }
  return most * headroom;
}
