// The findings as CI servers read tests: one test for each function, in the XML that JUnit made common. Pure.
import { failsBy, type LeftOut, type ShownFinding, type VerifiedFunction, type VerifyReport } from "./report.ts";

// Everything else XML 1.0 (section 2.2, Char) does not know: one of them, and the server reads nothing.
const notXml = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

const escaped = (text: string): string =>
  text
    .replaceAll(notXml, "\uFFFD")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\r", "&#13;");

/** As they are, a line's end and a tab would be read as spaces. */
const escapedValue = (text: string): string =>
  escaped(text).replaceAll('"', "&quot;").replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");

function element(name: string, attributes: Readonly<Record<string, string | number | null>>, inner = ""): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ` ${key}="${escapedValue(String(value))}"`);
  return inner === "" ? `<${name}${written.join("")}/>` : `<${name}${written.join("")}>${inner}</${name}>`;
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(3);

function toldBy({ id, kind, thing, timeline, place, mend, because, isKnown, repeat }: ShownFinding, shorten: Shorten) {
  const first = timeline[0]?.at ?? 0;
  return [
    `${kind}  ${thing}  [${id}]`,
    ...(because === null ? [] : [`  accepted: ${because}`]),
    ...(isKnown ? ["  known: it stands in the baseline"] : []),
    ...timeline.map(({ at, text }) => `  +${seconds(at - first)} s  ${text}`),
    ...(place === null ? [] : [`  ${shorten(place.file)}:${place.line}`]),
    ...(mend === null ? [] : [`  ${mend.text}`]),
    `  repeat: ${repeat}`,
  ].join("\n");
}

type Shorten = (file: string) => string;

const testOf = (of: Pick<LeftOut, "id" | "fn" | "place">, tookMs: number, shorten: Shorten, inner: string): string => {
  const { id, fn, place } = of;
  const file = place === null ? null : shorten(place.file);
  return element(
    "testcase",
    { name: id, classname: `idem.verify.${fn}`, time: seconds(tookMs), file, line: place?.line ?? null },
    inner,
  );
};

function verifiedTest(verified: VerifiedFunction, shorten: Shorten): string {
  const failing = failsBy(verified);
  const told = (findings: readonly ShownFinding[]): string =>
    findings.map((finding) => toldBy(finding, shorten)).join("\n\n");
  const others = verified.findings.filter((finding) => !failing.includes(finding));
  const [first] = failing;
  // One of them for each test: servers read no second.
  const isWrong = failing.some(({ kind }) => kind !== "UNPROVEN");
  const more = failing.length > 1 ? ` (and ${failing.length - 1} more)` : "";
  const failure =
    first === undefined
      ? ""
      : element(
          isWrong ? "failure" : "error",
          { type: verified.verdict, message: `${first.kind}: ${first.thing}${more}` },
          escaped(told(failing)),
        );
  const beside = [...verified.notes.map((note) => `note: ${note}`), ...(others.length === 0 ? [] : [told(others)])];
  const out = beside.length === 0 ? "" : element("system-out", {}, escaped(beside.join("\n\n")));
  return testOf(verified, verified.tookMs, shorten, failure + out);
}

export function junitOf({ functions, leftOut, summary }: VerifyReport, shorten: Shorten): string {
  const failing = functions.filter((each) => failsBy(each).length > 0);
  const errors = failing.filter((each) => failsBy(each).every(({ kind }) => kind === "UNPROVEN")).length;
  const { problems, tookMs } = summary;
  const counts = {
    tests: functions.length + leftOut.length + problems.length,
    failures: failing.length - errors + problems.length,
    errors,
    skipped: leftOut.length,
    time: seconds(tookMs),
  };
  const tests = [
    ...functions.map((verified) => verifiedTest(verified, shorten)),
    ...leftOut.map((each) => testOf(each, 0, shorten, element("skipped", { message: each.why }))),
    ...problems.map((message) =>
      element(
        "testcase",
        { name: message, classname: "idem.verify.accepted", time: seconds(0) },
        element("failure", { type: "ACCEPTED", message }),
      ),
    ),
  ];
  const suite = element("testsuite", { name: "idem verify", ...counts }, `\n    ${tests.join("\n    ")}\n  `);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element("testsuites", { name: "idem verify", ...counts }, `\n  ${suite}\n`)}\n`;
}
