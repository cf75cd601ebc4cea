import { expect, test } from "vitest";
import { ticksOf } from "./chart-ticks.ts";

test("no name under a chart reaches over its edge", () => {
  const day = 86_400_000;
  const from = Date.UTC(2026, 10, 10, 11, 17);
  for (let shift = 0; shift < day; shift += 3_600_000) {
    for (const [length, px] of [
      [day, 300],
      [7 * day, 560],
      [7 * day, 330],
      [30 * day, 560],
    ] as const) {
      const [since, until] = [from + shift, from + shift + length];
      const places = ticksOf(since, until, px, true).map((at) => ((at - since) / length) * px);
      expect(places.length).toBeGreaterThan(1);
      for (const place of places) expect(place >= 20 && place <= px - 20, `${place} of ${px}`).toBe(true);
    }
  }
});
