import { expect, test } from "vitest";
import type { Database } from "./database.ts";
import { eventPage, runPage } from "./page-reads.ts";
import { driveAtOnce, Given } from "./rule.ts";

test("a page that nothing but time narrows counts off as many rows as it shows; any other as many as it may look at", () => {
  const skipped = (page: typeof runPage | typeof eventPage, filter: object): unknown[] => {
    const skips: unknown[] = [];
    const rows = Array.from({ length: 51 }, (_, i) => ({ id: `${90 - i}`, rerun_from: null }));
    const db = {
      sql: { pages: { runs: "rows" } },
      find: (sql: string, { skip }: Record<string, unknown>) => {
        if (!sql.includes("offset :skip")) return new Given(rows);
        skips.push(skip);
        return new Given([rows.at(-1)]);
      },
    } as unknown as Database;
    driveAtOnce<unknown>(page(db, "default", { limit: 50, examinedMax: 10_000, ...filter }));
    return skips;
  };
  expect(skipped(runPage, { since: 0 })).toEqual([50]);
  expect(skipped(eventPage, {})).toEqual([50]);
  expect(skipped(runPage, { state: "failed" })).toEqual([9_999]);
  expect(skipped(eventPage, { name: "a" })).toEqual([9_999]);
});
