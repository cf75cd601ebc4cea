import { expect, test } from "vitest";
import type { OverviewFunction } from "./overview-data.ts";
import { troublesOf } from "./overview-words.ts";

const line = {
  waiting: 0,
  oldestAt: null,
  atWork: 0,
  endsPerMinute: 0,
  comePerMinute: 0,
  emptyInMs: null,
  behind: null,
} as OverviewFunction["line"];
const of = (id: string, over: object): OverviewFunction =>
  ({
    id,
    function: id,
    app: "shop",
    pausedAt: null,
    ended: 10,
    failed: 0,
    slipped: 0,
    suppressed: 0,
    line,
    buckets: [],
    ...over,
  }) as unknown as OverviewFunction;
const now = Date.UTC(2026, 4, 15, 14, 47);

test("what ran twice comes before what failed, what has no worker and what stands in line; what is well is not named", () => {
  const waiting = { ...line, waiting: 510, atWork: 2, oldestAt: now - 544_000, endsPerMinute: 6, emptyInMs: 5_100_000 };
  const functions = [
    of("render", { line: { ...waiting, behind: { kind: "concurrency", limit: 2, periodMs: null, key: null } } }),
    of("charge", { failed: 123, ended: 1204 }),
    of("import", {
      line: { ...waiting, waiting: 3, behind: { kind: "no-worker", limit: null, periodMs: null, key: null } },
    }),
    of("draft", { slipped: 1 }),
    of("well", {}),
    of("paused", {
      pausedAt: 1,
      line: { ...waiting, behind: { kind: "workers", limit: null, periodMs: null, key: null } },
    }),
  ];
  const told = troublesOf({ functions }, now);
  expect(told.map(({ kind, fn }) => [kind, fn.id])).toEqual([
    ["doubled", "draft"],
    ["failed", "charge"],
    ["no-worker", "import"],
    ["line", "render"],
  ]);
  expect(told[0]!.what).toBe("1 run of draft ran again");
  expect(told[3]!.more).toBe("behind concurrency 2. The oldest has waited 9 m; about 85 m to go.");
});
