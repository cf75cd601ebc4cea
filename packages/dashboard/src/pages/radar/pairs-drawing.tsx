// Every pair at a glance: a square ran first, a stem, a diamond slipped through. At 390 px the pairs stand in a grid.
import { useMemo } from "react";
import type uPlot from "uplot";
import { axisWords } from "../../parts/axis-words.ts";
import { Chart, type ChartOptions } from "../../parts/chart.tsx";
import type { ChartColours } from "../../parts/chart-colours.ts";
import { Glyph } from "../../parts/glyph.tsx";
import { stackedBars } from "../../parts/stacked-bars.ts";
import { clockOf, dateOf } from "../../parts/time-words.ts";
import { settingsNow } from "../../settings.ts";
import { entityText, type Gathered, plural } from "./alert-words.ts";
import { drawnMax, drawnPairs, perHour, spread } from "./pairs-places.ts";
import "./pairs-drawing.css";

interface PairsDrawingProps {
  readonly gathered: readonly Gathered[];
  /** "placement" */
  readonly noun: string;
}

export function PairsDrawing({ gathered, noun }: PairsDrawingProps) {
  const drawn = useMemo(() => drawnPairs(gathered), [gathered]);
  const isBars = drawn.length > drawnMax;
  const data = useMemo((): uPlot.AlignedData => {
    if (!isBars) return [drawn.map(({ at }) => at / 1_000), drawn.map(({ count }) => count)];
    const { times, counts } = perHour(drawn);
    return [times.map((at) => at / 1_000), [...counts]];
  }, [drawn, isBars]);
  const label = `${drawn.length} ${plural(noun, drawn.length)}, each with more than one run`;
  const table = {
    columns: [noun, "First run", "Slipped through"],
    rows: gathered.map(({ entity, pairs }) => [
      entityText(entity),
      new Date(Math.min(...pairs.map(({ at }) => at))).toISOString(),
      pairs.length,
    ]),
  };
  return (
    <div className="pairs-drawing">
      <p className="caption">
        <span>{isBars ? "Each bar is what slipped through in that time" : `Each column is one ${noun}`}</span>
        <span className="legend">
          {!isBars && (
            <span>
              <Glyph name="first" size={11} />
              first run
            </span>
          )}
          <span>
            <Glyph name="slipped" size={11} />
            slipped through
          </span>
        </span>
      </p>
      <div className="wide">
        <Chart label={label} data={data} options={isBars ? barOptions : pairOptions} height={74} table={table} />
      </div>
      <PairGrid count={drawn.length} label={label} />
    </div>
  );
}

const gridMax = 300;
const cellPx = 13.5;
const rowPx = 28;
const columns = 25;

function PairGrid({ count, label }: { readonly count: number; readonly label: string }) {
  const shown = Math.min(count, gridMax);
  const width = columns * cellPx;
  const height = Math.ceil(shown / columns) * rowPx;
  return (
    <svg
      className="narrow"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={label}
    >
      {Array.from({ length: shown }, (_, i) => {
        const [x, y] = [(i % columns) * cellPx + 6, Math.floor(i / columns) * rowPx];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: pairs are drawn by their place
          <g key={i}>
            <path className="stem" d={`M${x} ${y + 5}V${y + 19}`} />
            <rect className="square" x={x - 3} y={y + 15} width="6" height="6" />
            <path className="diamond" d={`M${x} ${y + 1}l4 4-4 4-4-4z`} />
          </g>
        );
      })}
    </svg>
  );
}

const dayMs = 86_400;
const axisFont = "11px system-ui, -apple-system, Segoe UI, Roboto, sans-serif";

/** Days where there are several, else the clock. */
function timeWords(chart: uPlot, splits: readonly number[]): string[] {
  const { min = 0, max = 0 } = chart.scales.x!;
  const utc = settingsNow().zone === "utc";
  const isDays = max - min > 2 * dayMs;
  const words = splits.map((at) =>
    isDays ? dateOf(at * 1_000, Date.now(), utc) : clockOf(at * 1_000, { utc, millis: false }),
  );
  return axisWords(chart, splits, words);
}

const frame = (colours: ChartColours): Pick<ChartOptions, "axes" | "legend" | "cursor" | "padding"> => ({
  axes: [
    {
      stroke: colours["text-3"],
      font: axisFont,
      ticks: { show: false },
      grid: { show: false },
      size: 20,
      gap: 2,
      space: 110,
      values: timeWords,
    },
    { show: false },
  ],
  legend: { show: false },
  cursor: { show: false },
  padding: [4, 8, 0, 8],
});

const everyTime = (_: uPlot, min: number | null, max: number | null): [number, number] => {
  const [from, to] = [min ?? 0, max ?? 0];
  // Pairs of one second still need a width to stand in.
  const room = Math.max(30, (to - from) * 0.02);
  return [from - room, to + room];
};

const pairOptions = (colours: ChartColours): ChartOptions => ({
  ...frame(colours),
  scales: { x: { time: true, range: everyTime }, y: { range: [0, 1] } },
  series: [{}, { show: true, paths: () => null, points: { show: false } }],
  plugins: [{ hooks: { draw: (chart) => drawPairs(chart, colours) } }],
});

const barOptions = (colours: ChartColours): ChartOptions => ({
  ...frame(colours),
  scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(1, max)] } },
  series: [{}, { show: true, paths: () => null, points: { show: false } }],
  plugins: [stackedBars([{ name: "slipped through", fill: () => colours["doubled-fill"], isLoud: true }])],
});

const columnPx = 8;

function drawPairs(chart: uPlot, colours: ChartColours): void {
  const [times, counts] = chart.data;
  if (times.length === 0) return;
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio;
  const wanted = Array.from(times, (at) => chart.valToPos(at, "x", true));
  const places = spread(wanted, bbox.left + 4 * scale, bbox.left + bbox.width - 4 * scale, columnPx * scale);
  const floor = bbox.top + bbox.height - 6 * scale;
  ctx.save();
  ctx.fillStyle = colours.line;
  ctx.fillRect(bbox.left, bbox.top + bbox.height - scale, bbox.width, scale);
  for (const [i, x] of places.entries()) {
    // A third and a fourth run stand higher, as far as there is room.
    const diamonds = Math.min(3, counts?.[i] ?? 1);
    const top = floor - (diamonds === 1 ? 20 : 14 * diamonds) * scale;
    ctx.strokeStyle = colours["doubled-fill"];
    ctx.globalAlpha = 0.6;
    ctx.lineWidth = scale;
    ctx.beginPath();
    ctx.moveTo(x, floor);
    ctx.lineTo(x, top);
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.fillStyle = colours["text-2"];
    ctx.fillRect(x - 2.5 * scale, floor - 2.5 * scale, 5 * scale, 5 * scale);
    ctx.fillStyle = colours["doubled-fill"];
    for (let d = 0; d < diamonds; d++) diamond(ctx, x, top + d * 14 * scale, 3.6 * scale);
  }
  ctx.restore();
}

function diamond(ctx: CanvasRenderingContext2D, x: number, y: number, reach: number): void {
  ctx.beginPath();
  ctx.moveTo(x, y - reach);
  ctx.lineTo(x + reach, y);
  ctx.lineTo(x, y + reach);
  ctx.lineTo(x - reach, y);
  ctx.fill();
}
