// Random lives of few records, from several sessions, are one history each.
import { expect, test } from "vitest";
import type { TestDatabase } from "../sql/databases.suite.ts";
import { faultsOf } from "./conformance/check-history.suite.ts";
import { recordHistory, writingsOf } from "./conformance/history.suite.ts";

export function testHistory(open: () => Promise<TestDatabase>): void {
  test.each([1, 2])(
    "one live owner per fence, fences only grow, no old one writes, outcomes stay (seed %i)",
    async (seed) => {
      const db = await open();
      const calls = await recordHistory(db, { seed, sessions: 4, callsEach: 150 });
      const writings = await writingsOf(db);
      expect(faultsOf(writings, calls)).toEqual([]);
      // A history in which little happened would prove little.
      const count = (is: (call: (typeof calls)[number]) => boolean) => calls.filter(is).length;
      expect(count(({ told }) => typeof told === "object" && told.kind === "fresh")).toBeGreaterThan(20);
      expect(count(({ name, told }) => name === "complete" && told === "held")).toBeGreaterThan(10);
      expect(count(({ told }) => told === "lost")).toBeGreaterThan(10);
      expect(writings.filter(({ after }) => (after?.fence ?? 0) > 1).length).toBeGreaterThan(10);
    },
  );
}
