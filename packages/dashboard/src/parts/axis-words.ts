// The names under a drawn chart, where the chart chose the places itself. A name without room is left out.
import type uPlot from "uplot";
import { labelsWithRoom } from "./label-room.ts";

/** What of uPlot says where a name is drawn. */
export type NamedChart = Pick<uPlot, "bbox" | "width" | "valToPos">;

export function axisWords(
  chart: NamedChart,
  splits: readonly number[],
  words: readonly string[],
  pixelRatio = devicePixelRatio,
): string[] {
  const leftPx = chart.bbox.left / pixelRatio;
  const trackPx = chart.bbox.width / pixelRatio;
  const names = splits.map((at, i) => ({ at: chart.valToPos(at, "x") / trackPx, text: words[i] ?? "" }));
  const overPx = Math.max(0, Math.min(leftPx, chart.width - leftPx - trackPx));
  const drawn = new Set(
    labelsWithRoom(
      names.filter(({ text }) => text !== ""),
      { trackPx, anchor: "middle", overPx },
    ),
  );
  return names.map((name) => (drawn.has(name) ? name.text : ""));
}
