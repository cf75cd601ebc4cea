import { expect, test } from "vitest";
import { Refusals } from "./refusals.ts";

test("the audit hears of ten wrong passwords in a minute, and later of how many it did not hear of", () => {
  const clock = { ms: 0 };
  const refusals = new Refusals({ monoMs: () => clock.ms });
  const said = Array.from({ length: 30 }, () => refusals.note());
  expect(said.filter((words) => words === "")).toHaveLength(10);
  expect(said.filter((words) => words === null)).toHaveLength(20);
  clock.ms += 60_000;
  expect([refusals.note(), refusals.note()]).toEqual(["; 20 before it were not noted", ""]);
});
