import { describe, expect, test } from "vitest";
import { idleStretches, scaleOf } from "./fold.ts";

const folded = { unfold: false };

describe("folded time", () => {
  test("a wait that is long and most of the run takes 14 % of the track", () => {
    const scale = scaleOf(
      { from: 0, to: 604_000 },
      [
        { from: 0, to: 3_000 },
        { from: 603_000, to: 604_000 },
      ],
      folded,
    );
    expect(scale.folds).toHaveLength(1);
    const [fold] = scale.folds;
    expect(fold!.width).toBe(0.14);
    expect(scale.at(fold!.to) - scale.at(fold!.from)).toBeCloseTo(0.14);
    expect(fold!.from).toBeGreaterThan(3_000);
    expect(fold!.to).toBeLessThan(603_000);
  });

  test("a wait of 5 s or less, or of less than 30 % of the run, is drawn as long as it was", () => {
    expect(scaleOf({ from: 0, to: 6_000 }, [{ from: 0, to: 1_000 }], folded).folds).toEqual([]);
    const work = [
      { from: 0, to: 40_000 },
      { from: 50_000, to: 90_000 },
    ];
    expect(scaleOf({ from: 0, to: 90_000 }, work, folded).folds).toEqual([]);
  });

  test("unfolded, equal widths are equal times all along", () => {
    const scale = scaleOf({ from: 0, to: 1_000_000 }, [{ from: 0, to: 1_000 }], { unfold: true });
    expect(scale.folds).toEqual([]);
    expect(scale.at(250_000)).toBe(0.25);
  });

  test("places grow with instants, and a place leads back to its instant", () => {
    const scale = scaleOf(
      { from: 100, to: 900_100 },
      [
        { from: 100, to: 2_000 },
        { from: 400_000, to: 401_000 },
      ],
      folded,
    );
    expect(scale.folds).toHaveLength(2);
    let last = -1;
    for (let instant = 100; instant <= 900_100; instant += 1_777) {
      const at = scale.at(instant);
      expect(at).toBeGreaterThan(last);
      expect(scale.instant(at)).toBeCloseTo(instant, 3);
      last = at;
    }
    expect(scale.at(-5)).toBe(0);
    expect(scale.at(1e12)).toBe(1);
    expect(scale.instant(2)).toBe(900_100);
  });

  test("a run that only sleeps keeps both ends of its sleep in sight", () => {
    const { folds } = scaleOf({ from: 0, to: 3_600_000 }, [], folded);
    expect(folds).toHaveLength(1);
    expect(folds[0]!.left).toBeGreaterThan(0.3);
    expect(folds[0]!.left + folds[0]!.width).toBeLessThan(0.7);
  });

  test("a run that took no time has a track", () => {
    const scale = scaleOf({ from: 7, to: 7 }, [], folded);
    expect(scale.at(7)).toBe(0);
    expect(scale.at(8)).toBe(1);
  });

  test("idle is what no work covers, however the work overlaps", () => {
    const work = [
      { from: 40, to: 60 },
      { from: 0, to: 10 },
      { from: 5, to: 20 },
    ];
    expect(idleStretches({ from: 0, to: 100 }, work)).toEqual([
      { from: 20, to: 40 },
      { from: 60, to: 100 },
    ]);
    expect(idleStretches({ from: 0, to: 50 }, [{ from: 0, to: 80 }])).toEqual([]);
  });
});
