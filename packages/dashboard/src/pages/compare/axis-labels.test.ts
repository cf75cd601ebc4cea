import fc from "fast-check";
import { expect, test } from "vitest";
import { labelPx } from "../../parts/label-room.ts";
import { scaleOf } from "../run/fold.ts";
import { axisLabels } from "./axis-labels.ts";

const start = 1_000_000;
const clock = "14:46:12.1";

function labelsOf(ms: number, gap: number, trackPx: number, work = [{ from: start, to: start + ms }]) {
  const scale = scaleOf({ from: start, to: start + ms }, work, { unfold: false });
  return { scale, labels: axisLabels({ scale, start, begin: start + gap, gap }, clock, trackPx) };
}

test("the clock is first, the second run's beginning has its offset, and ticks fill the rest", () => {
  expect(labelsOf(3_200, 1_100, 900).labels.map(({ text }) => text)).toEqual([clock, "+1.1 s", "+2 s", "+3 s"]);
});

test("a second run that began at the very end has its offset before the edge", () => {
  const { labels } = labelsOf(10_000, 9_990, 334);
  const began = labels.find(({ id }) => id === "begin")!;
  expect(began.text).toBe("+10 s");
  expect(began.at * 334 + labelPx(began.text)).toBeLessThanOrEqual(334);
});

test("no label reaches over the end, over another or into a fold, for any two runs and width", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const duration = fc.double({ min: 0, max: 11, noNaN: true }).map((power) => Math.round(10 ** power));
  const twoRuns = fc.tuple(duration, share, fc.integer({ min: 1, max: 2_000 }), fc.array(fc.tuple(share, share)));
  const check = ([ms, later, trackPx, shares]: readonly [number, number, number, readonly (readonly number[])[]]) => {
    const work = shares.map(([a = 0, b = 0]) => ({
      from: start + Math.min(a, b) * ms,
      to: start + Math.max(a, b) * ms,
    }));
    const { scale, labels } = labelsOf(ms, Math.round(later * ms), trackPx, work);
    const drawn = labels
      .map(({ at, text }) => ({ text, from: at * trackPx, to: at * trackPx + labelPx(text) }))
      .sort((a, b) => a.from - b.from);
    for (const [i, { from, to, text }] of drawn.entries()) {
      expect(to, text).toBeLessThanOrEqual(trackPx);
      expect(from, text).toBeGreaterThanOrEqual(drawn[i - 1]?.to ?? 0);
      for (const { left, width } of scale.folds)
        expect(to <= left * trackPx || from >= (left + width) * trackPx, text).toBe(true);
    }
  };
  fc.assert(fc.property(twoRuns, check), { seed: 20_260_518, numRuns: 1_000 });
});
