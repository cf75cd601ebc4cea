import fc from "fast-check";
import { RE2JS } from "re2js";
import { expect, test, vi } from "vitest";
import { compileExpression } from "./expression.ts";
import { patternWeight } from "./pattern-weight.ts";

test.each([
  ["copies of copies", ["((a{1,10}){1,10}){1,10}"]],
  ["one long row of copies", ["a{1000}".repeat(36)]],
  ["empty copies", ["(|a){1000}".repeat(20)]],
  ["every letter there is, many times", ["[\\pL\\pN\\pS]{500}"]],
  ["letters of either case", ["(?i)[^a]{1000}"]],
  ["many small ones", Array.from({ length: 80 }, (_, i) => `(a{1,30}){1,${i + 1}}`)],
  ["what is never closed", [`${"(".repeat(120)}a{900}`]],
  ["a quoted text that is repeated", ["(\\Q.{9}\\E){200}"]],
])("%s are refused before they are compiled", (_name, patterns) => {
  const compiled = vi.spyOn(RE2JS, "compile");
  const text = patterns.map((pattern) => `event.data.matches(r"${pattern}")`).join(" || ");
  expect(() => compileExpression(text)).toThrow(/patterns of matches\(\) are too large together/);
  const weights = compiled.mock.calls.map(([pattern]) => patternWeight(pattern));
  expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(500);
  compiled.mockRestore();
});

test.each([
  ["^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", "0f8fad5b-d9cb-469f-a165-70867728950e"],
  ["^[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,255}\\.[a-z]{2,}$", `${"a".repeat(30)}@${"b".repeat(20)}.example.org`],
  ["^ord_[A-Za-z0-9]{1,64}$", "ord_NffrFeUfNV2Hib"],
  ["(error|failed|timeout)", `${"x".repeat(1_000)} timeout`],
  ["^\\pL+$", "Jürgen"],
])("%s is an ordinary pattern and matches", (pattern, text) => {
  const evaluation = compileExpression(`event.data.matches(r"${pattern}")`).evaluate({ event: { data: text } });
  expect(evaluation).toEqual({ ok: true, value: true });
});

test("what a pattern weighs is never less than a tenth of what it is compiled to", () => {
  const part = fc.constantFrom(
    ...[
      "a",
      ".",
      "[a-z]",
      "\\d",
      "\\pL",
      "(?:b|c)",
      "(d)",
      "(|e)",
      "[^x]",
      "\\Qfg\\E",
      "[[:alpha:]]",
      "(?i:k)",
      "[]a]",
    ],
  );
  const times = fc.constantFrom("", "*", "+", "?", "{3}", "{2,}", "{0,20}", "{40}");
  const parts = fc.array(
    fc.tuple(part, times).map((each) => each.join("")),
    { minLength: 1, maxLength: 5 },
  );
  const whole = fc.tuple(parts, times).map(([row, again]) => `(${row.join("")})${again}`);
  const compile = (pattern: string): RE2JS | null => {
    try {
      return RE2JS.compile(pattern);
    } catch {
      return null;
    }
  };
  fc.assert(
    fc.property(whole, (pattern) => {
      // A thousand copies are more than RE2 takes.
      const size = compile(pattern)?.programSize() ?? 0;
      expect(patternWeight(pattern)).toBeGreaterThanOrEqual(size / 10);
    }),
    { numRuns: 300 },
  );
});
