// The reports that pipelines read. JUnit's XML is read back by a parser that forgives nothing.
import { describe, expect, test } from "vitest";
import { against } from "./baseline.ts";
import { junitOf } from "./junit.ts";
import { type ShownFinding, summarise, type VerifiedFunction } from "./report.ts";
import { sarifOf } from "./sarif.ts";
import { sarifShape } from "./sarif-shape.suite.ts";

const nasty = `<a href="x">&amp; ]]> 'two'\n\tof \u0000\u001b[31m\uD800 é 日本 😀 \uFFFE</a>`;

const finding = (over: Partial<ShownFinding> = {}): ShownFinding => ({
  id: "0123456789abcdef",
  verdict: "DOUBLED",
  kind: "DOUBLED",
  isKnown: false,
  thing: nasty,
  place: { file: "/repo/pack ages/a#b/ü.ts", line: 11, column: 7 },
  effect: "POST x",
  step: nasty,
  schedule: "rerun",
  seed: 1,
  timeline: [
    { at: 1_000, text: nasty },
    { at: 3_500, text: "another process took over" },
  ],
  event: null,
  mend: {
    text: `Pass the key: ${nasty}`,
    edits: [{ file: "/repo/pack ages/a#b/ü.ts", line: 10, before: "  a();", after: "  b();" }],
  },
  because: null,
  repeat: "idem verify 'it''s'",
  ...over,
});

const fn = (id: string, findings: readonly ShownFinding[], over: Partial<VerifiedFunction> = {}): VerifiedFunction => ({
  id,
  fn: `shop-${id}`,
  place: { file: "/repo/pack ages/fn.ts", line: 3, column: 6 },
  verdict: findings[0]?.verdict ?? "HELD",
  schedules: 7,
  unplayed: 0,
  effects: 1,
  commits: 2,
  notes: [],
  outdated: [],
  event: null,
  tookMs: 1_234.5,
  findings,
  ...over,
});

const accepted = finding({ id: "acce", verdict: "ACCEPTED", because: "telemetry (until 2999-01-01)", mend: null });
const functions = [
  fn(`draft "${nasty}"`, [finding(), finding({ id: "b".repeat(16), place: null, mend: null })]),
  fn("unsure", [finding({ id: "u".repeat(16), kind: "UNPROVEN", verdict: "UNPROVEN", place: null, mend: null })]),
  fn("accepted", [accepted], { notes: ["assumed: a key"] }),
  fn("old", [finding({ id: "k".repeat(16), mend: null })]),
  fn("held", []),
];
const leftOut = [{ id: "left", fn: "shop-left", place: null, why: `its code has not changed ${nasty}` }];
const plain = summarise(functions, { leftOut, tookMs: 4_321, problems: [`"POST y" was accepted until 2020 ${nasty}`] });
const known = { id: "k".repeat(16), function: "shop-old", kind: "DOUBLED", what: "x", file: null } as const;
const report = against(plain, { findings: [known] }, { verified: functions, isWhole: true, functions: [] });
const pathOf = (file: string) => (file.startsWith("/repo/") ? file.slice("/repo/".length) : null);

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
function decoded(text: string): string {
  expect(text).not.toMatch(/[<]|&(?!(?:amp|lt|gt|quot|#\d+);)/);
  // Of XML 1.0: no control characters, no halves of pairs.
  expect(text).toMatch(/^[\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u);
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (_, code, name) =>
    code === undefined ? entities[name]! : String.fromCodePoint(Number(code)),
  );
}

function readXml(xml: string): Element {
  const [, body] = /^<\?xml version="1\.0" encoding="UTF-8"\?>\n([\s\S]*)\n$/.exec(xml)!;
  const root: Element = { name: "", attributes: {}, children: [], text: "" };
  const open = [root];
  for (const [, text, tag] of body!.matchAll(/([^<]*)(<[^>]*>)/g)) {
    open.at(-1)!.text += decoded(text!);
    const [, end, name, written, isEmpty] = /^<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>$/.exec(tag!)!;
    if (end === "/") {
      expect(open.pop()!.name).toBe(name);
      continue;
    }
    const pairs = [...written!.matchAll(/ ([a-z]+)="([^"]*)"/g)].map(([, key, value]) => [key!, decoded(value!)]);
    expect(new Set(pairs.map(([key]) => key)).size).toBe(pairs.length);
    const element = { name: name!, attributes: Object.fromEntries(pairs), children: [], text: "" };
    open.at(-1)!.children.push(element);
    if (isEmpty === "") open.push(element);
  }
  expect(open).toEqual([root]);
  expect(root.children).toHaveLength(1);
  return root.children[0]!;
}

describe("--reporter junit", () => {
  const suites = readXml(junitOf(report, (file) => file.slice(1)));
  const [suite] = suites.children;
  const tests = suite!.children;
  const under = (id: string) => tests.find(({ attributes }) => attributes.name === id)!.children;

  test("is XML that is well formed whatever stands in names, texts and paths, and loses nothing but what XML cannot hold", () => {
    const readable = nasty.replaceAll(/\p{Cc}(?<![\t\n])|\p{Cs}|\uFFFE/gu, "\uFFFD");
    const [failure] = tests[0]!.children;
    expect(tests[0]!.attributes.name).toBe(`draft "${readable}"`);
    expect(failure!.attributes.message).toBe(`DOUBLED: ${readable} (and 1 more)`);
    expect(failure!.text).toContain(`  +2.500 s  another process took over\n  repo/pack ages/a#b/ü.ts:11`);
  });

  test("has a test for each function: one failure for what is wrong, an error for what is unproven, none for what is accepted or known", () => {
    expect(tests[0]!.children.map(({ name }) => name)).toEqual(["failure"]);
    expect(under("unsure").map(({ name, attributes }) => [name, attributes.type])).toEqual([["error", "UNPROVEN"]]);
    expect(under("accepted").map(({ name }) => name)).toEqual(["system-out"]);
    expect(under("accepted")[0]!.text).toMatch(/note: assumed: a key[\s\S]*accepted: telemetry/);
    expect(under("old")[0]!.text).toContain("known: it stands in the baseline");
    expect(under("held")).toEqual([]);
    expect(under("left").map(({ name }) => name)).toEqual(["skipped"]);
    expect(tests.find(({ attributes }) => attributes.name === "held")!.attributes).toEqual({
      name: "held",
      classname: "idem.verify.shop-held",
      time: "1.234",
      file: "repo/pack ages/fn.ts",
      line: "3",
    });
  });

  test("counts what it holds", () => {
    const holding = (name: string) =>
      tests.filter(({ children }) => children.some((each) => each.name === name)).length;
    const counts = {
      tests: String(tests.length),
      failures: String(holding("failure")),
      errors: String(holding("error")),
      skipped: String(holding("skipped")),
      time: "4.321",
    };
    expect(counts).toMatchObject({ tests: "7", failures: "2", errors: "1", skipped: "1" });
    expect(suites.attributes).toEqual({ name: "idem verify", ...counts });
    expect(suite!.attributes).toEqual({ name: "idem verify", ...counts });
  });
});

describe("--reporter sarif", () => {
  const log = sarifShape.parse(JSON.parse(JSON.stringify(sarifOf(report, { version: "0.1.0", pathOf, exitCode: 1 }))));
  const { results, tool, invocations } = log.runs[0]!;

  test("is a log of version 2.1.0, with a rule for each kind and a result for each finding", () => {
    expect(tool.driver.rules.map(({ id }) => id)).toEqual(["DOUBLED", "LOST", "HALF", "DIVERGED", "UNPROVEN"]);
    expect(results.map(({ ruleId, level }) => [ruleId, level])).toEqual([
      ["DOUBLED", "error"],
      ["DOUBLED", "error"],
      ["UNPROVEN", "warning"],
      ["DOUBLED", "note"],
      ["DOUBLED", "error"],
    ]);
    expect(invocations[0]!.toolExecutionNotifications!.map(({ level }) => level)).toEqual(["error", "note"]);
  });

  test("leads to the line by its path in the repository, escaped as an address; without a line, to the function's own", () => {
    const places = results.map(({ locations }) => locations[0]!.physicalLocation!);
    expect(places[0]).toEqual({
      artifactLocation: { uri: "pack%20ages/a%23b/%C3%BC.ts", uriBaseId: "%SRCROOT%" },
      region: { startLine: 11, startColumn: 7 },
    });
    expect(places[1]!.artifactLocation.uri).toBe("pack%20ages/fn.ts");
    const outside = sarifOf(report, { version: "0.1.0", pathOf: () => null, exitCode: 1 });
    expect(JSON.stringify(sarifShape.parse(outside))).toContain('"uri":"file:///repo/pack%20ages/fn.ts"');
  });

  test("carries the finding's id as its fingerprint, what is known and accepted, and the mend as a fix", () => {
    expect(results.map(({ partialFingerprints }) => partialFingerprints["idemFindingId/v1"])).toEqual(
      functions.flatMap(({ findings }) => findings.map(({ id }) => id)),
    );
    expect(results.map(({ baselineState }) => baselineState)).toEqual(["new", "new", "new", "new", "unchanged"]);
    expect(results[3]!.suppressions).toEqual([
      { kind: "external", status: "accepted", justification: "telemetry (until 2999-01-01)" },
    ]);
    expect(results[0]!.fixes![0]!.artifactChanges[0]!.replacements).toEqual([
      {
        deletedRegion: { startLine: 10, startColumn: 1, endLine: 10, endColumn: 7 },
        insertedContent: { text: "  b();" },
      },
    ]);
    const without = sarifShape.parse(sarifOf(plain, { version: "0.1.0", pathOf, exitCode: 1 })).runs[0]!;
    expect(without.results.some((result) => "baselineState" in result)).toBe(false);
  });
});
