import fc from "fast-check";
import { expect, test } from "vitest";
import { labelPx } from "../../parts/label-room.ts";
import { ticksOf, tickWords } from "./chart-ticks.ts";

const day = 86_400_000;
const from = Date.UTC(2026, 10, 10, 11, 17);

const namesOf = (since: number, length: number, px: number) =>
  ticksOf(since, since + length, px, true).map((at) => {
    const text = tickWords(at, length, true);
    const middle = ((at - since) / length) * px;
    return { text, from: middle - labelPx(text) / 2, to: middle + labelPx(text) / 2 };
  });

test("no name under a chart reaches over its edge or over another, for any time and width", () => {
  const anyChart = fc.tuple(
    fc.integer({ min: 0, max: 400 * day }),
    fc.double({ min: 4.5, max: 10.5, noNaN: true }).map((power) => Math.round(10 ** power)),
    fc.integer({ min: 1, max: 2_000 }),
  );
  const check = ([shift, length, px]: readonly [number, number, number]) => {
    const names = namesOf(from + shift, length, px);
    for (const [i, name] of names.entries()) {
      expect(name.from, name.text).toBeGreaterThanOrEqual(names[i - 1]?.to ?? 0);
      expect(name.to, name.text).toBeLessThanOrEqual(px);
    }
  };
  fc.assert(fc.property(anyChart, check), { seed: 20_260_519, numRuns: 1_000 });
});

test("a chart of a page has more than one name, wherever its time begins", () => {
  for (let shift = 0; shift < day; shift += 3_600_000) {
    expect(namesOf(from + shift, day, 300).length).toBeGreaterThan(1);
    expect(namesOf(from + shift, 7 * day, 560).length).toBeGreaterThan(1);
    expect(namesOf(from + shift, 7 * day, 330).length).toBeGreaterThan(1);
    expect(namesOf(from + shift, 30 * day, 560).length).toBeGreaterThan(1);
  }
});
