// The axis of time under a chart: hours or days at round places of the clock, in the zone the person reads in.
import { type ChartOptions, quietAxes } from "../../parts/chart.tsx";
import type { ChartColours } from "../../parts/chart-colours.ts";
import { settingsNow } from "../../settings.ts";
import { ticksOf, tickWords } from "../runs/chart-ticks.ts";

type Axes = NonNullable<ChartOptions["axes"]>;

const endsOf = (times: ArrayLike<number>): [number, number] =>
  times.length === 0 ? [0, 1] : [times[0]!, times[times.length - 1]!];

export function timeAxes(colours: ChartColours): Axes {
  const [x, y] = quietAxes(colours);
  const isUtc = () => settingsNow().zone === "utc";
  return [
    {
      ...x!,
      size: 24,
      gap: 3,
      splits: (chart) => {
        const [from, to] = endsOf(chart.data[0]);
        return ticksOf(from * 1_000, to * 1_000, chart.bbox.width / devicePixelRatio, isUtc()).map((at) => at / 1_000);
      },
      values: (chart, splits) => {
        const [from, to] = endsOf(chart.data[0]);
        return splits.map((at) => tickWords(at * 1_000, (to - from) * 1_000, isUtc()));
      },
    },
    y!,
  ];
}
