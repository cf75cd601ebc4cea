import { describe, expect, test } from "vitest";
import { against, type Baseline, goneFrom, readBaseline, renewed, writeBaseline } from "./baseline.ts";
import { findingIds, type Named } from "./finding-id.ts";
import { masker } from "./mask-values.ts";
import { exitCodeOf, type Finding, type Kind, type ShownFinding, summarise, type VerifiedFunction } from "./report.ts";

const finding = (over: Partial<Finding> = {}): Finding => ({
  verdict: "DOUBLED",
  kind: "DOUBLED",
  thing: "two of api.stripe.com/v1/invoices",
  place: { file: "/project/src/functions.ts", line: 2, column: 5 },
  effect: "POST api.stripe.com/v1/invoices",
  step: "create-invoice",
  schedule: "die-after-effect:1",
  seed: 1,
  timeline: [],
  event: null,
  mend: null,
  because: null,
  ...over,
});

const source = [
  "// a",
  'await fetch("https://api.stripe.com/v1/invoices");',
  "// b",
  "await again();",
  "await again();",
];
const named = (over: Partial<Named> = {}, lines: readonly string[] = source): Named => ({
  env: "default",
  fn: "billing-draft-invoice",
  shorten: (file) => file.replace("/project/", ""),
  readSource: () => lines.join("\n"),
  hide: masker({ placementId: "p-77" }),
  ...over,
});
const at = (line: number, over: Partial<Finding> = {}) =>
  finding({ place: { file: "/project/src/functions.ts", line, column: 1 }, ...over });

describe("a finding has the same id", () => {
  const [id] = findingIds([finding()], named());

  test.each<[string, Finding, Named]>([
    ["when lines above it are added", at(5), named({}, ["// one", "// two", "// three", "// four", `  ${source[1]}`])],
    [
      "when another schedule shows it, with another step, time and number of things",
      finding({ schedule: "rerun+again-later", step: "other", seed: 7, thing: "three of api.stripe.com/v1/invoices" }),
      named(),
    ],
    ["when a person accepts it", finding({ verdict: "ACCEPTED", because: "they merge by hand" }), named()],
    ["when its line is indented otherwise", finding(), named({}, ["", `\t\t${source[1]!.replace(" ", "   ")} \r`])],
    ["when the project lies elsewhere", finding(), named({ shorten: () => "src/functions.ts" })],
  ])("%s", (_, other, how) => {
    expect(findingIds([other], how)).toEqual([id]);
  });

  test("when others are found beside it, whichever is first", () => {
    const others = [at(4), finding({ kind: "LOST" }), finding({ effect: "POST api.stripe.com/v1/charges" })];
    expect(findingIds([...others, finding()], named()).at(-1)).toBe(id);
  });

  test("for another event: its values are no part of it", () => {
    const of = (placement: string) =>
      findingIds(
        [finding({ effect: `PUT crm.example/placements/${placement}` })],
        named({ hide: masker({ placementId: placement }) }),
      );
    expect(of("p-77")).toEqual(of("p-1234"));
  });
});

test("no two findings share an id: of another kind, effect, file, line, function, app or environment, or of two equal lines", () => {
  const ids = [
    ...findingIds(
      [
        finding(),
        finding({ kind: "LOST" }),
        finding({ effect: "POST api.stripe.com/v1/charges" }),
        finding({ place: { file: "/project/src/other.ts", line: 2, column: 1 } }),
        finding({ place: null }),
        finding({ place: null, effect: null, thing: "the run does not come to its end" }),
        at(3),
        at(4),
        at(5),
      ],
      named(),
    ),
    ...findingIds([finding()], named({ fn: "billing-other" })),
    ...findingIds([finding()], named({ fn: "shop-draft-invoice" })),
    ...findingIds([finding()], named({ env: "staging" })),
  ];
  expect(new Set(ids).size).toBe(12);
  expect(ids.every((each) => /^[0-9a-f]{16}$/.test(each))).toBe(true);
});

const shown = (id: string, kind: Kind = "DOUBLED", over: Partial<ShownFinding> = {}): ShownFinding => ({
  ...finding({ verdict: kind, kind }),
  id,
  isKnown: false,
  repeat: "idem verify",
  ...over,
});

const verified = (fn: string, findings: readonly ShownFinding[]): VerifiedFunction => ({
  id: fn,
  fn,
  place: null,
  verdict: findings[0]?.verdict ?? "HELD",
  schedules: 1,
  unplayed: 0,
  effects: 1,
  commits: 1,
  notes: [],
  outdated: [],
  event: null,
  tookMs: 1,
  findings,
});

describe("a baseline", () => {
  const known = (id: string, fn = "f", kind: Kind = "DOUBLED") => ({ id, function: fn, kind, what: "x", file: null });
  const looked = (all: readonly VerifiedFunction[], functions = ["f", "g"], isWhole = true) => ({
    verified: all,
    isWhole,
    functions,
  });
  const report = (all: readonly VerifiedFunction[], problems: readonly string[] = []) =>
    summarise(all, { leftOut: [], tookMs: 1, problems });
  const exitWith = (baseline: Baseline, all: readonly VerifiedFunction[], problems: readonly string[] = []) =>
    exitCodeOf(against(report(all, problems), baseline, looked(all)));

  test("lets known findings pass and fails for new ones, also unproven ones and what is accepted no longer", () => {
    const f = verified("f", [shown("a")]);
    expect(exitCodeOf(report([f]))).toBe(1);
    expect(exitWith({ findings: [known("a")] }, [f])).toBe(0);
    expect(exitWith({ findings: [known("b")] }, [f])).toBe(1);
    expect(exitWith({ findings: [known("a")] }, [f, verified("g", [shown("c", "UNPROVEN")])])).toBe(2);
    expect(exitWith({ findings: [known("a"), known("c")] }, [f, verified("g", [shown("c", "UNPROVEN")])])).toBe(0);
    expect(exitWith({ findings: [known("a")] }, [f], ['"POST x" was accepted until 2020-01-01'])).toBe(1);
  });

  test("tells what is gone; what was not looked at, or could not be seen, is not gone", () => {
    const baseline = { findings: [known("a"), known("b", "g"), known("c", "removed"), known("u", "f", "UNPROVEN")] };
    const goneOf = (...args: Parameters<typeof looked>) => goneFrom(baseline, looked(...args)).map(({ id }) => id);
    expect(goneOf([verified("f", [])])).toEqual(["a", "c", "u"]);
    expect(goneOf([verified("f", [shown("a")]), verified("g", [])])).toEqual(["b", "c", "u"]);
    // Only the schedules that were named.
    expect(goneOf([verified("f", [])], ["f", "g"], false)).toEqual(["c"]);
    expect(goneOf([verified("f", [shown("v", "UNPROVEN")])])).toEqual(["c", "u"]);
  });

  test("is written anew with what is found, keeps what was not looked at, and is the same text each time", () => {
    const before = { findings: [known("z", "g"), known("old")] };
    const now = looked([
      verified("f", [shown("b"), shown("a", "UNPROVEN"), shown("q", "DOUBLED", { verdict: "ACCEPTED" })]),
    ]);
    const written = renewed(before, now, (file) => file.slice(1));
    expect(readBaseline(JSON.parse(writeBaseline(written)))).toEqual({
      findings: [
        { id: "a", function: "f", kind: "UNPROVEN", what: finding().effect, file: "project/src/functions.ts" },
        { id: "b", function: "f", kind: "DOUBLED", what: finding().effect, file: "project/src/functions.ts" },
        // It could not be seen: the function is unproven now.
        known("old"),
        known("z", "g"),
      ],
    });
    const again = renewed(written, now, (file) => file.slice(1));
    expect(writeBaseline(again)).toBe(writeBaseline(written));
  });

  test.each([[null], [[]], [{ version: 2, findings: [] }], [{ version: 1, findings: [{ id: "a" }] }]])(
    "%j is none, and says so",
    (written) => {
      expect(readBaseline(written)).toMatch(/no baseline of version 1|finding 1 lacks/);
    },
  );
});
