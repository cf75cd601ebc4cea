import { expect, test } from "vitest";
import { type CleanFacts, pairSchedules, pairs, readSchedule, singles, whyNotHappened } from "./schedules.ts";

const facts: CleanFacts = {
  effectCount: 2,
  effectsInSteps: [1, 2],
  effectsElsewhere: [1, 2],
  commitCount: { before: 4, after: 4 },
  commitsOfCode: [3, 4],
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

test("every adversity of the page is played for every effect, step and commit of a clean run", () => {
  const ids = singles(facts).map(({ id }) => id);
  const each = (...names: string[]) => names.flatMap((name) => [`${name}:1`, `${name}:2`]);
  const refusals = ["answer", "always"].flatMap((how) => [500, 429, 409].map((status) => `${how}-${status}`));
  const deaths = ["die-before-effect", "die-after-effect", "die-twice-at-effect"];
  const others = ["lost-answer", "throw-after-effect", "zombie", "cancel", "outage"];
  expect(ids).toEqual(expect.arrayContaining(each(...refusals, ...deaths, ...others)));
  for (const commit of [1, 2, 3, 4]) {
    expect(ids).toEqual(expect.arrayContaining([`die-at-commit:${commit}:before`, `die-at-commit:${commit}:after`]));
  }
  // Before the others no code of the function's ran: a second death finds what the first one found.
  expect(ids.filter((id) => id.startsWith("die-twice-at-commit"))).toEqual([
    "die-twice-at-commit:3",
    "die-twice-at-commit:4",
  ]);
  const deliveries = ["again-at-once", "again-later", "again-after-end", "other-id-at-once", "other-id-after-end"];
  const windows = ["before-window-end", "after-window-end", "twin-after-end", "twin-at-once", "other-field:email"];
  const names = ["other-name:crm/placement.updated", "swapped:crm/placement.updated"];
  const reruns = ["rerun", "rerun-from:create invoice", "rerun-from:a%2Bb:50%25", "wait-twice", "replay"];
  expect(ids).toEqual(expect.arrayContaining([...deliveries, ...windows, ...names, ...reruns]));
});

test("nobody is away for longer than a row or a file remembers", () => {
  const ids = singles({ ...facts, effectsElsewhere: [2] }).map(({ id }) => id);
  expect(ids.filter((id) => id.startsWith("outage"))).toEqual(["outage:2"]);
});

test.each([
  ["die-after-effect:99", "the function has 2 effects"],
  ["die-at-commit:9:before", "a clean run has 4 commits"],
  ["throw-after-effect:2", "effect 2 happens in no step"],
  ["zombie:1", "effect 1 is none to which this can happen"],
  ["rerun-from:absent", 'the function has no step "absent" that does something'],
  ["other-name:a/b", "the function does not listen to a/b"],
  ["other-field:x", 'the event has no other field "x"'],
  ["wait-timeout", "none of its waits came to it"],
  ["replay", "the function records no step"],
])("of %s, which was asked for and did not happen, it is said why", (id, why) => {
  expect(whyNotHappened(readSchedule(id)!.adversities[0]!, { ...facts, effectsInSteps: [1] })).toBe(why);
});

test("events that are gathered into batches are not judged by what two of them do at once", () => {
  const ids = singles({ ...facts, isBatched: true }).map(({ id }) => id);
  expect(ids.filter((id) => id === "twin-at-once" || id === "other-id-at-once")).toEqual([]);
  expect(ids).toContain("twin-after-end");
});

test("a tick is nobody's to send under another id", () => {
  const ids = singles({ ...facts, isSent: false }).map(({ id }) => id);
  expect(ids.filter((id) => /^(other|twin|swapped|before-window|after-window|again-(later|after))/.test(id))).toEqual(
    [],
  );
});

test("two events that are one thing are played together, as far apart as they came, and one after the other", () => {
  expect(pairSchedules).toEqual(["pair-at-once", "pair-as-seen", "pair-after-end"]);
  expect(pairSchedules.map((id) => readSchedule(id)?.id)).toEqual(pairSchedules);
  expect(whyNotHappened(readSchedule("pair-as-seen")!.adversities[0]!, facts)).toContain("--events");
});
