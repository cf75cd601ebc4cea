// Bars on top of each other. The last series is the one that may not be overlooked: it is never under 3 px high and stands a pixel
// apart, so that one among ten thousand is seen.
import type uPlot from "uplot";

export interface BarSeries {
  readonly name: string;
  readonly fill: (context: CanvasRenderingContext2D) => string | CanvasPattern;
  /** Seen at whatever height. */
  readonly isLoud?: boolean;
}

const loudPx = 3;
const gapPx = 1;

/** Give it to a chart whose data are times and, per series, counts that are not yet added up. */
export function stackedBars(series: readonly BarSeries[]): uPlot.Plugin {
  return {
    hooks: {
      draw: (chart) => {
        const [times, ...counts] = chart.data;
        if (times.length === 0) return;
        const { ctx, bbox } = chart;
        const scale = devicePixelRatio;
        const step = bbox.width / Math.max(1, times.length);
        const width = Math.max(1, step - 2 * scale);
        const floor = bbox.top + bbox.height;
        ctx.save();
        const fills = series.map((each) => each.fill(ctx));
        for (let i = 0; i < times.length; i++) {
          let top = floor;
          let sum = 0;
          const left = bbox.left + i * step + (step - width) / 2;
          for (let s = 0; s < series.length; s++) {
            const count = counts[s]?.[i] ?? 0;
            if (count <= 0) continue;
            sum += count;
            const isLoud = series[s]!.isLoud === true;
            const to = chart.valToPos(sum, "y", true);
            const gap = isLoud && top < floor ? gapPx * scale : 0;
            const height = Math.max(top - to - gap, (isLoud ? loudPx : 1) * scale);
            ctx.fillStyle = fills[s]!;
            ctx.fillRect(left, top - gap - height, width, height);
            top -= gap + height;
          }
        }
        ctx.restore();
      },
    },
  };
}
