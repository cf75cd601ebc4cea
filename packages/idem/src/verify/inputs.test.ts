import { describe, expect, test } from "vitest";
import { withoutValues } from "./mask-values.ts";
import type { FunctionReport } from "./report.ts";
import { exampleIn, sampleOf } from "./sample-of-schema.ts";
import { Consent, emptyMemory, readMemory, remember } from "./verify-memory.ts";

describe("a sample of a schema", () => {
  test("has a value of its type, format and bounds in every field, and the same each time", () => {
    const schema = {
      type: "object",
      properties: {
        id: { type: "string", minLength: 12 },
        email: { type: "string", format: "email" },
        at: { type: "string", format: "date-time" },
        count: { type: "integer", minimum: 10, multipleOf: 4 },
        share: { type: "number", exclusiveMaximum: 1 },
        kind: { enum: ["a", "b"] },
        fixed: { const: 3 },
        lines: { type: "array", minItems: 2, items: { $ref: "#/$defs/line" } },
        either: { anyOf: [{ type: "null" }, { type: "boolean" }] },
        both: {
          allOf: [
            { type: "object", properties: { x: { type: "null" } } },
            { type: "object", properties: {} },
          ],
        },
      },
      $defs: { line: { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] } },
    };
    expect(sampleOf(schema)).toEqual({
      id: "id-7xxxxxxxx",
      email: "someone@example.com",
      at: "2026-06-01T09:00:00.000Z",
      count: 12,
      share: 0,
      kind: "a",
      fixed: 3,
      lines: [{ sku: "sku-7" }, { sku: "sku-7" }],
      either: true,
      both: { x: null },
    });
  });

  test("is its author's example where there is one, and nothing where a pattern or a circle has no answer", () => {
    expect(exampleIn({ type: "string", examples: ["x"] })).toBe("x");
    expect(sampleOf({ type: "object", properties: { a: { type: "string", examples: ["x"] } } })).toEqual({ a: "x" });
    expect(
      sampleOf({ type: "object", properties: { a: { type: "string", pattern: "^[A-Z]{3}$" } }, required: ["a"] }),
    ).toBe(undefined);
    expect(sampleOf({ $ref: "#" })).toBe(undefined);
  });
});

describe("what is remembered", () => {
  const entry = { effect: "POST a.example/*", because: "they merge", until: "2027-06-01" };
  const day = Date.parse("2027-06-01T12:00:00Z");

  test("an accepted effect holds through its last day, for its function alone if one is named", () => {
    const consent = new Consent([{ ...entry, function: "f" }], day);
    expect(consent.accepts("f", "POST a.example/v1/x")).toBe("they merge (until 2027-06-01)");
    expect(consent.accepts("g", "POST a.example/v1/x")).toBe(null);
    expect(consent.accepts("f", "POST axexample/v1/x")).toBe(null);
    expect(consent.problems(true)).toEqual([]);
    const over = new Consent([entry], day + 24 * 3_600_000);
    expect(over.accepts("f", "POST a.example/v1/x")).toBe(null);
    expect(over.problems(true)).toEqual([expect.stringContaining("was accepted until 2027-06-01")]);
  });

  test("an entry that accepts nothing is a problem where everything was looked at, and only there", () => {
    const consent = new Consent([entry], day);
    expect(consent.problems(false)).toEqual([]);
    expect(consent.problems(true)).toEqual([expect.stringContaining("was not found")]);
  });

  test.each([
    [[], "must be an object"],
    [{ other: 1 }, '"other"'],
    [{ failing: { f: "x" } }, "list of schedules"],
    [{ accepted: {} }, "must be a list"],
    [{ accepted: [{ because: "x", until: "2027-01-01" }] }, "no `effect`"],
    [{ accepted: [{ ...entry, because: " " }] }, "without a reason"],
    [{ accepted: [{ ...entry, until: "2027-02-31" }] }, "without an end"],
    [{ accepted: [{ ...entry, til: "x" }] }, '"til"'],
  ])("%j is refused", (written, why) => {
    expect(readMemory(written)).toEqual(expect.stringContaining(why));
  });

  test("a schedule that failed is kept once, and the memory is the same object where nothing is new", () => {
    const once = remember(emptyMemory, "f", ["a", "b", "a"]);
    expect(once.failing).toEqual({ f: ["a", "b"] });
    expect(remember(once, "f", ["b"])).toBe(once);
  });

  test("a schedule that can no longer happen is forgotten, and its function with the last of them", () => {
    const both = remember(emptyMemory, "f", ["a", "b"]);
    expect(remember(both, "f", ["c"], ["a"]).failing).toEqual({ f: ["b", "c"] });
    expect(remember(both, "f", [], ["a", "b"]).failing).toEqual({});
    expect(remember(both, "f", [], ["x"])).toBe(both);
  });
});

test("values of a real event are in no text of a report, whole or in a path", () => {
  const report: FunctionReport = {
    id: "f",
    verdict: "DOUBLED",
    schedules: 1,
    unplayed: 0,
    effects: 1,
    commits: 1,
    notes: ["ann@example.com was told"],
    outdated: [],
    findings: [
      {
        verdict: "DOUBLED",
        kind: "DOUBLED",
        thing: "two of PUT a.example/clients/7",
        place: null,
        effect: "PUT a.example/clients/7?mail=ann%40example.com",
        step: "s",
        schedule: "rerun",
        seed: 1,
        event: { name: "client/changed", data: { mail: "ann@example.com" } },
        timeline: [{ at: 7, text: "run 7 of order-12 and order-12-twin" }],
        mend: null,
        because: null,
      },
    ],
  };
  const { notes, findings } = withoutValues(report, { mail: "ann@example.com", client: 7, order: { id: "order-12" } });
  expect(notes).toEqual(["••• was told"]);
  expect(findings[0]).toMatchObject({
    thing: "two of PUT a.example/clients/•••",
    effect: "PUT a.example/clients/•••?mail=•••",
    event: null,
    timeline: [{ at: 7, text: "run 7 of ••• and •••" }],
  });
});
