import { expect, test } from "vitest";
import { speaksOfRun, withEquals } from "./expression-words.ts";

test("one equals sign is read as two, but for those of comparisons and those in quotes", () => {
  expect(withEquals("event.data.order = 7")).toBe("event.data.order == 7");
  expect(withEquals('event.data.a = "x=y" && output.b=1')).toBe('event.data.a == "x=y" && output.b==1');
  for (const right of ["a == 1", "a != 1", "a <= 1", "a >= 1", "a == 'it\\'s = ok'"])
    expect(withEquals(right)).toBe(right);
});

test("what speaks of event or output is an expression, everything else is text", () => {
  expect(["event.data.x = 7", "has(event.data.x)", "output == 1"].every(speaksOfRun)).toBe(true);
  expect(["order/paid", "event", "7", "key=7"].some(speaksOfRun)).toBe(false);
});
