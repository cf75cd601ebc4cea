// How close together the pairs came: a source that delivers twice shows as one hill, chance as none.
import { useMemo } from "react";
import type uPlot from "uplot";
import { axisWords } from "../../parts/axis-words.ts";
import { Chart, type ChartOptions, quietAxes } from "../../parts/chart.tsx";
import type { ChartColours } from "../../parts/chart-colours.ts";
import { stackedBars } from "../../parts/stacked-bars.ts";
import { gapBounds, gapCounts } from "./pairs-places.ts";

const names = [...gapBounds.map((bound) => `< ${bound < 1_000 ? `${bound} ms` : `${bound / 1_000} s`}`), "more"];

export function GapChart({ gaps }: { readonly gaps: readonly number[] }) {
  const counts = useMemo(() => gapCounts(gaps), [gaps]);
  const data = useMemo((): uPlot.AlignedData => [counts.map((_, i) => i), [...counts]], [counts]);
  const most = names[counts.indexOf(Math.max(...counts))]!.replace("<", "less than");
  return (
    <Chart
      label={`Time between the first and the second; most pairs were ${most} apart`}
      data={data}
      options={options}
      height={120}
      table={{ columns: ["Apart", "Pairs"], rows: names.map((name, i) => [name, counts[i]]) }}
    />
  );
}

const options = (colours: ChartColours): ChartOptions => {
  const [x, y] = quietAxes(colours);
  return {
    axes: [
      {
        ...x!,
        splits: () => names.map((_, i) => i),
        values: (chart, splits) =>
          axisWords(
            chart,
            splits,
            splits.map((at) => names[at]?.replace("< ", "") ?? ""),
          ),
        size: 22,
      },
      { ...y!, incrs: [1, 2, 5, 10, 20, 50, 100, 500] },
    ],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [-0.5, names.length - 0.5] },
      y: { range: (_, __, max) => [0, Math.max(1, max)] },
    },
    series: [{}, { paths: () => null, points: { show: false } }],
    plugins: [stackedBars([{ name: "pairs", fill: () => colours["doubled-fill"], isLoud: true }])],
  };
};
