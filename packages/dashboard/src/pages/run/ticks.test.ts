import { describe, expect, test } from "vitest";
import { scaleOf } from "./fold.ts";
import { ticksOf } from "./ticks.ts";

const start = 1_000_000;
const words = (ms: number, work = [{ from: start, to: start + ms }]) =>
  ticksOf(scaleOf({ from: start, to: start + ms }, work, { unfold: false }), start).map(({ text }) => text);

describe("ticks", () => {
  test("they are round offsets from the start", () => {
    expect(words(3_200)).toEqual(["0 s", "1 s", "2 s", "3 s"]);
    expect(words(640)).toEqual(["0 s", "200 ms", "400 ms", "600 ms"]);
    expect(words(4 * 3_600_000)).toEqual(["0 s", "1 h", "2 h", "3 h"]);
  });

  test("they never stand closer than a label is wide, for runs of any length", () => {
    for (let ms = 1; ms < 1e11; ms = Math.ceil(ms * 1.37)) {
      const scale = scaleOf({ from: start, to: start + ms }, [{ from: start, to: start + ms }], { unfold: false });
      const ticks = ticksOf(scale, start);
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
    for (const { instant } of ticksOf(scale, start)) {
      expect(scale.folds.some(({ from, to }) => instant > from && instant < to)).toBe(false);
    }
  });

  test("zoomed in, offsets still count from the run's start", () => {
    const scale = scaleOf({ from: start + 2_000, to: start + 3_000 }, [{ from: start, to: start + 9_000 }], {
      unfold: false,
    });
    expect(ticksOf(scale, start).map(({ text }) => text)).toEqual(["2 s", "2.2 s", "2.4 s", "2.6 s", "2.8 s"]);
  });
});
