import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { labelPx } from "../../parts/label-room.ts";
import { scaleOf } from "./fold.ts";
import { foldWords, tickPadPx, ticksOf } from "./ticks.ts";

const start = 1_000_000;
const widePx = 900;
const words = (ms: number, work = [{ from: start, to: start + ms }]) =>
  ticksOf(scaleOf({ from: start, to: start + ms }, work, { unfold: false }), start, widePx).map(({ text }) => text);

describe("ticks", () => {
  test("they are round offsets from the start", () => {
    expect(words(3_200)).toEqual(["0 s", "1 s", "2 s", "3 s"]);
    expect(words(640)).toEqual(["0 s", "200 ms", "400 ms", "600 ms"]);
    expect(words(4 * 3_600_000)).toEqual(["0 s", "1 h", "2 h", "3 h"]);
  });

  test("they never stand closer than a label is wide, for runs of any length", () => {
    for (let ms = 1; ms < 1e11; ms = Math.ceil(ms * 1.37)) {
      const scale = scaleOf({ from: start, to: start + ms }, [{ from: start, to: start + ms }], { unfold: false });
      const ticks = ticksOf(scale, start, widePx);
      expect(ticks.length).toBeGreaterThan(0);
      expect(ticks.length).toBeLessThan(9);
      for (let i = 1; i < ticks.length; i++) expect(ticks[i]!.at - ticks[i - 1]!.at).toBeGreaterThan(0.13);
    }
  });

  test("behind a fold the first mark says how late it is there", () => {
    const work = [
      { from: start, to: start + 2_900 },
      { from: start + 603_000, to: start + 604_000 },
    ];
    const found = words(604_000, work);
    expect(found[0]).toBe("0 s");
    expect(found.at(-1)).toBe("10 m 3 s");
  });

  test("none stands inside a fold", () => {
    const work = [
      { from: start, to: start + 60_000 },
      { from: start + 7_200_000, to: start + 7_260_000 },
    ];
    const scale = scaleOf({ from: start, to: start + 7_260_000 }, work, { unfold: false });
    for (const { instant } of ticksOf(scale, start, widePx)) {
      expect(scale.folds.some(({ from, to }) => instant > from && instant < to)).toBe(false);
    }
  });

  test("zoomed in, offsets still count from the run's start", () => {
    const scale = scaleOf({ from: start + 2_000, to: start + 3_000 }, [{ from: start, to: start + 9_000 }], {
      unfold: false,
    });
    expect(ticksOf(scale, start, widePx).map(({ text }) => text)).toEqual(["2 s", "2.2 s", "2.4 s", "2.6 s", "2.8 s"]);
  });

  // Of a run of 619 to 636 ms "600 ms" reached over the right edge at 390 px: the whole page scrolled sideways.
  test("no label reaches over the track's end, over another or into a fold, for any run, part of it and width", () => {
    // Every order of magnitude as often as any other: from a millisecond to three years.
    const duration = fc.double({ min: 0, max: 11, noNaN: true }).map((power) => Math.round(10 ** power));
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const run = fc.record({
      ms: duration,
      trackPx: fc.integer({ min: 1, max: 2_000 }),
      work: fc.array(fc.tuple(share, share), { maxLength: 5 }),
      shown: fc.option(fc.tuple(share, share)),
      unfold: fc.boolean(),
    });
    const check = ({ ms, trackPx, work, shown, unfold }: typeof run extends fc.Arbitrary<infer Run> ? Run : never) => {
      const span = (a: number, b: number) => ({
        from: start + Math.min(a, b) * ms,
        to: start + Math.max(a, b) * ms,
      });
      const scale = scaleOf(
        shown === null ? span(0, 1) : span(...shown),
        work.map(([a, b]) => span(a, b)),
        { unfold },
      );
      const drawn = ticksOf(scale, start, trackPx)
        .map(({ at, text }) => ({ text, from: at * trackPx, to: at * trackPx + tickPadPx + labelPx(text) }))
        .sort((a, b) => a.from - b.from);
      for (const [i, { from, to, text }] of drawn.entries()) {
        expect(to, text).toBeLessThanOrEqual(trackPx);
        expect(from, text).toBeGreaterThanOrEqual(drawn[i - 1]?.to ?? 0);
        for (const fold of scale.folds) {
          const isApart = to <= fold.left * trackPx || from >= (fold.left + fold.width) * trackPx;
          expect(isApart, `${text} and the fold at ${fold.left}`).toBe(true);
        }
      }
    };
    fc.assert(fc.property(run, check), { seed: 20_260_517, numRuns: 1_000 });
    for (let ms = 600; ms < 660; ms++) {
      for (const trackPx of [334, 320, 620]) check({ ms, trackPx, work: [[0, 1]], shown: null, unfold: false });
      check({ ms: 9_000, trackPx: 334, work: [[0, 1]], shown: [0, ms / 9_000], unfold: false });
    }
  });

  test("a run has a label at its start on every track that is wider than it", () => {
    for (let ms = 1; ms < 1e11; ms = Math.ceil(ms * 1.37)) {
      const scale = scaleOf({ from: start, to: start + ms }, [{ from: start, to: start + ms }], { unfold: false });
      for (const trackPx of [40, 120, 334, 900]) expect(ticksOf(scale, start, trackPx)[0]?.text).toBe("0 s");
    }
  });

  test("the length of a fold is as exact as its width has room for", () => {
    const fold = { from: 0, to: 597_000, left: 0.4, width: 0.14 };
    expect([900, 334, 100].map((trackPx) => foldWords(fold, trackPx))).toEqual(["9 m 57 s", "9 m", null]);
  });
});
