// What is written under two runs on one clock.
import { keptInside, type Label, type LabelTrack, labelsWithRoom } from "../../parts/label-room.ts";
import type { Scale } from "../run/fold.ts";
import { offsetWords, ticksOf } from "../run/ticks.ts";

export interface BothRunsAxis {
  readonly scale: Scale;
  readonly start: number;
  /** When the later run began, and how long after the other. */
  readonly begin: number;
  readonly gap: number;
}

interface AxisLabel extends Label {
  readonly id: string;
}

/** The clock at the start, how much later the second run began, and the ticks that have room between them. */
export function axisLabels(
  { scale, start, begin, gap }: BothRunsAxis,
  clock: string,
  trackPx: number,
): readonly AxisLabel[] {
  const track: LabelTrack = {
    trackPx,
    anchor: "start",
    taken: scale.folds.map(({ left, width }) => ({ from: left * trackPx, to: (left + width) * trackPx })),
  };
  const began = keptInside({ id: "begin", at: scale.at(begin), text: `+${offsetWords(gap)}` }, track);
  const ticks = ticksOf(scale, start, trackPx)
    .filter(({ instant }) => instant !== start)
    .map(({ instant, at, text }) => ({ id: `${instant}`, at, text: `+${text}` }));
  return labelsWithRoom([{ id: "start", at: 0, text: clock }, began, ...ticks], track);
}
