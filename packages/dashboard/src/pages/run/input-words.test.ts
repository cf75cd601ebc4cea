import { expect, test } from "vitest";
import { inputWords } from "./input-words.ts";

const given = { value: [7], bytes: 3, isOmitted: false, isEdited: false, lost: null };

test("a closure is said to have no arguments, and what it could read", () => {
  expect(inputWords({ kind: "run", input: null })).toMatch(/^It was given no arguments: .* the run's event/);
  expect(inputWords({ kind: "function", input: null })).toMatch(/^Code between steps/);
});

test("arguments, what a tool was asked for, a person's and what was lost are told apart", () => {
  expect(inputWords({ kind: "run", input: given })).toBe("Its code was called with these arguments.");
  expect(inputWords({ kind: "sleep", input: given })).toBe("It was asked for this.");
  expect(inputWords({ kind: "run", input: { ...given, isEdited: true } })).toMatch(/^A person gave it/);
  expect(inputWords({ kind: "run", input: { ...given, value: null, lost: "It has 70000 bytes" } })).toBe(
    "What it was given was not kept. It has 70000 bytes.",
  );
});
