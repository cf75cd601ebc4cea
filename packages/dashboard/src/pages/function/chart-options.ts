// The looks of a function's three charts. The numbers over them are their legend.
import type uPlot from "uplot";
import type { ChartOptions } from "../../parts/chart.tsx";
import { type ChartColours, hatch } from "../../parts/chart-colours.ts";
import { stackedBars } from "../../parts/stacked-bars.ts";
import { durationWords } from "../../parts/time-words.ts";
import { timeAxes } from "./time-axis.ts";

/** The charts of one page share a cursor. */
const cursor = { sync: { key: "function" }, drag: { x: false, y: false }, points: { show: false } } as const;
const legend = { show: false } as const;
const seconds = { time: true } as const;

/** From zero to a little over the highest; one when nothing is there, so that the axis has a unit. */
const fromZero =
  (highest: (chart: uPlot) => number) =>
  (chart: uPlot): [number, number] => [0, Math.max(1, highest(chart) * 1.05)];

const values = (chart: uPlot, series: number): readonly number[] =>
  [...(chart.data[series] ?? [])].map((value) => value ?? 0);

const highestSum = (chart: uPlot): number => {
  const [, ...counts] = chart.data;
  return Math.max(0, ...Array.from(chart.data[0], (_, i) => counts.reduce((sum, each) => sum + (each[i] ?? 0), 0)));
};

const highestValue = (chart: uPlot): number =>
  Math.max(0, ...chart.data.slice(1).flatMap((_, i) => values(chart, i + 1)));

const wholeNumbers = (axes: NonNullable<ChartOptions["axes"]>): NonNullable<ChartOptions["axes"]> => {
  const [x, y] = axes;
  return [x!, { ...y!, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000] }];
};

const hidden = { show: true, paths: () => null, points: { show: false } } as const;

export const outcomeOptions = (colours: ChartColours): ChartOptions => ({
  cursor,
  legend,
  scales: { x: seconds, y: { range: fromZero(highestSum) } },
  axes: wholeNumbers(timeAxes(colours)),
  series: [{}, { label: "Completed", ...hidden }, { label: "Failed", ...hidden }],
  plugins: [
    stackedBars([
      { name: "Completed", fill: () => colours.completed },
      {
        name: "Failed",
        fill: (context) => hatch(context, colours.failed, colours["failed-bg"], "slanted"),
        isLoud: true,
      },
    ]),
  ],
});

/** Log once the slow are ten times as slow as the rest: else the rest would lie on the floor. */
export const timeOptions =
  (isLog: boolean) =>
  (colours: ChartColours): ChartOptions => ({
    cursor,
    legend,
    scales: { x: seconds, y: isLog ? { distr: 3 } : { range: fromZero((chart) => Math.max(10, highestValue(chart))) } },
    axes: timeAxes(colours).map((axis, i) =>
      i === 0
        ? axis
        : { ...axis, size: 60, values: (_, splits) => splits.map((ms) => (ms === null ? "" : durationWords(ms))) },
    ),
    series: [
      {},
      {
        label: "p50",
        stroke: colours.running,
        width: 2,
        spanGaps: false,
        points: { show: true, size: 4, fill: colours.running },
      },
      {
        label: "p95",
        stroke: colours["text-2"],
        width: 1.5,
        dash: [5, 4],
        spanGaps: false,
        points: { show: true, size: 4, fill: colours["text-2"] },
      },
    ],
  });

/** `limit`: of runs at work, where the function has one of its own. */
export const loadOptions =
  (limit: number | null) =>
  (colours: ChartColours): ChartOptions => ({
    cursor,
    legend,
    scales: { x: seconds, y: { range: fromZero((chart) => Math.max(highestValue(chart), limit ?? 0)) } },
    axes: wholeNumbers(timeAxes(colours)),
    series: [
      {},
      { label: "Begun", stroke: colours.running, width: 2, paths: stepped, points: { show: false } },
      { label: "Due", stroke: colours.waiting, width: 1.5, paths: stepped, points: { show: false } },
    ],
    ...(limit === null ? {} : { plugins: [limitLine(limit, colours)] }),
  });

/** Made by hand: uPlot's own builder is on its class, which this file needs only as a type. */
const stepped: uPlot.Series.PathBuilder = (chart, series, from, to) => {
  const stroke = new Path2D();
  const times = chart.data[0];
  const counts = chart.data[series]!;
  let isBegun = false;
  for (let i = from; i <= to; i++) {
    const value = counts[i];
    if (value === null || value === undefined) continue;
    const x = chart.valToPos(times[i]!, "x", true);
    const y = chart.valToPos(value, "y", true);
    if (!isBegun) stroke.moveTo(x, y);
    else stroke.lineTo(x, y);
    isBegun = true;
    const next = times[i + 1];
    if (next !== undefined) stroke.lineTo(chart.valToPos(next, "x", true), y);
  }
  return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 0 } as unknown as uPlot.Series.Paths;
};

function limitLine(limit: number, colours: ChartColours): uPlot.Plugin {
  return {
    hooks: {
      draw: (chart) => {
        const { ctx, bbox } = chart;
        const y = chart.valToPos(limit, "y", true);
        const scale = devicePixelRatio;
        ctx.save();
        ctx.strokeStyle = colours.edge;
        ctx.fillStyle = colours["text-3"];
        ctx.lineWidth = scale;
        ctx.setLineDash([6 * scale, 4 * scale]);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
        ctx.font = `${11 * scale}px system-ui, sans-serif`;
        ctx.textAlign = "right";
        ctx.fillText(`limit ${limit}`, bbox.left + bbox.width - 4 * scale, y + 13 * scale);
        ctx.restore();
      },
    },
  };
}
