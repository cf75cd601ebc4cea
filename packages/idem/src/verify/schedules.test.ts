import { expect, test } from "vitest";
import { type CleanFacts, pairs, readSchedule, singles } from "./schedules.ts";

const facts: CleanFacts = {
  effectCount: 2,
  effectsInSteps: [1, 2],
  commitCount: { before: 4, after: 4 },
  steps: ["create invoice", "a+b:50%"],
  hasWaits: true,
  isSent: true,
  hasKey: true,
  isUnkeyed: false,
  isBatched: false,
  otherNames: ["crm/placement.updated"],
  hasTwin: true,
  otherFields: ["email"],
};

test("every schedule is repeated by its name, whatever its steps are called", () => {
  const all = [...singles(facts), ...pairs(facts)];
  expect(all.map(({ id }) => readSchedule(id))).toEqual(all);
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
});

test.each([
  "",
  "die",
  "die-after-effect:",
  "die-after-effect:0",
  "die-at-commit:1:beside",
  "rerun-from:",
  "twin+",
  "%",
])("a name that means nothing is no schedule: %j", (id) => {
  expect(readSchedule(id)).toBeNull();
});

test("a function that says why it has no key is not sent the same data under another id", () => {
  const ids = singles({ ...facts, hasKey: false, isUnkeyed: true }).map(({ id }) => id);
  expect(ids.filter((id) => /^(other-id|other-name|swapped|before-window|after-window)/.test(id))).toEqual([]);
  expect(ids).toContain("again-after-end");
  expect(ids).toContain("twin-after-end");
});
