// Lives after the first: from what is known of the program, or once more by Node's own loader.
import { expect, test } from "vitest";
import { loadProject } from "./load-project.suite.ts";

const whole = {
  counts: [0, 1, 0],
  old: ["CommonJS", "x!", true],
  circle: ["first", "first, seen from the other"],
  data: 7,
  waited: "waited for",
  late: "imported later",
  again: true,
  missing: "ERR_MODULE_NOT_FOUND",
  file: "main.mjs",
  isEol: true,
};

test("a life that is made from what is known has modules of its own, and finds everything as by Node's loader", async () => {
  const { missing: _, ...found } = whole;
  const { answers, stack } = await loadProject("lives/whole.mjs", 3);
  expect(stack).toBeUndefined();
  expect(answers?.map(({ told }) => told)).toEqual([found, found, found]);
  // Made once each; the first life's address is what the code of all of them runs under, and each knows its own.
  expect(answers?.map(({ tries }) => tries)).toEqual([1, 1, 1]);
  expect(answers?.map(({ named }) => named)).toEqual([
    { life: "1", ranAs: "1" },
    { life: "2", ranAs: "1" },
    { life: "3", ranAs: "1" },
  ]);
});

test("a thread that cannot make modules has Node's loader make them", async () => {
  const { answers } = await loadProject("lives/main.mjs", 2, []);
  expect(answers?.map(({ told }) => told)).toEqual([whole, whole]);
  expect(answers?.map(({ tries }) => tries)).toEqual([1, 1]);
});

test("an import that is not known is found by Node's loader, in a life that begins anew", async () => {
  const { answers } = await loadProject("lives/otherwise.mjs", 3);
  expect(answers?.map(({ told }) => told)).toEqual([
    { late: "imported later" },
    { late: "the counter" },
    { late: "the counter" },
  ]);
  expect(answers?.map(({ tries }) => tries)).toEqual([1, 2, 1]);
});

test.each([
  ["an import that leads nowhere", "lives/main.mjs", whole],
  ["an import of what throws", "lives/caught.mjs", { message: "not here" }],
  ["import.meta.resolve", "lives/meta.mjs", { resolved: "late.mjs" }],
])("a program with %s is left to Node's loader, after a few tries for good", async (_, entry, told) => {
  const { answers } = await loadProject(entry, 6);
  expect(answers?.map((each) => each.told)).toEqual(Array(6).fill(told));
  expect(answers?.map(({ tries }) => tries)).toEqual([1, 2, 2, 2, 1, 1]);
});
