// The findings in the format that code hosts show beside lines: SARIF 2.1.0 (OASIS, docs.oasis-open.org/sarif/sarif/v2.1.0). Pure.
import type { Kind, Mend, ShownFinding, VerifiedFunction, VerifyReport } from "./report.ts";
import type { Place } from "./thing.ts";

/** The rules' texts, one rule for each kind of finding. */
const rules: Readonly<Record<Kind, { readonly name: string; readonly short: string; readonly full: string }>> = {
  DOUBLED: {
    name: "Doubled",
    short: "Run twice, there would be two of something",
    full: "After a schedule in which something went wrong, the outside holds a thing more often than one clean run leaves it there, or in another state.",
  },
  LOST: {
    name: "Lost",
    short: "Nothing is done, and nothing makes up for it",
    full: "After a schedule in which something went wrong, nothing of the work is there and nobody hears of it; or another entity's event was taken for the first one's.",
  },
  HALF: {
    name: "Half",
    short: "Part of the work is missing for good",
    full: "After a schedule in which something went wrong, a part of the work is there and the rest never comes.",
  },
  DIVERGED: {
    name: "Diverged",
    short: "A replay asks for other steps than were recorded",
    full: "The code, entered again over its recorded steps, asks for others: what was done before is not found again.",
  },
  UNPROVEN: {
    name: "Unproven",
    short: "It could not be shown that it is safe to repeat",
    full: "Something kept the verifier from seeing what the function does: no event, a way out that is not watched, an answer nobody gave.",
  },
};
const kinds = Object.keys(rules) as Kind[];

const levelOf = ({ verdict, kind }: ShownFinding): "error" | "warning" | "note" =>
  verdict === "ACCEPTED" ? "note" : kind === "UNPROVEN" ? "warning" : "error";

export interface SarifOptions {
  /** Of this package. */
  readonly version: string;
  /** A file by its path in the repository, with slashes; null where it lies outside of it. */
  readonly pathOf: (file: string) => string | null;
  readonly exitCode: number;
}

const uriOf = (path: string): string => path.split("/").map(encodeURIComponent).join("/");

const artifact = (file: string, { pathOf }: SarifOptions) => {
  const path = pathOf(file);
  return path === null ? { uri: `file://${uriOf(file)}` } : { uri: uriOf(path), uriBaseId: "%SRCROOT%" };
};

const locationOf = ({ file, line, column }: Place, options: SarifOptions) => ({
  artifactLocation: artifact(file, options),
  region: { startLine: line, startColumn: Math.max(1, column) },
});

function fixOf({ text, edits }: Mend, options: SarifOptions) {
  const files = [...new Set(edits.map(({ file }) => file))];
  return {
    description: { text },
    artifactChanges: files.map((file) => ({
      artifactLocation: artifact(file, options),
      replacements: edits
        .filter((edit) => edit.file === file)
        .map(({ line, before, after }) => ({
          deletedRegion: { startLine: line, startColumn: 1, endLine: line, endColumn: before.length + 1 },
          insertedContent: { text: after },
        })),
    })),
  };
}

function resultOf(
  { id, fn, place }: VerifiedFunction,
  finding: ShownFinding,
  hasBaseline: boolean,
  options: SarifOptions,
) {
  const { kind, thing, schedule, mend, because, repeat } = finding;
  // Where no line is known, the function's own: a result without one is shown nowhere.
  const at = finding.place ?? place;
  const told = [`${id}: ${thing} (${schedule}).`, ...(mend === null ? [] : [mend.text]), `To see it again: ${repeat}`];
  return {
    ruleId: kind,
    ruleIndex: kinds.indexOf(kind),
    kind: "fail",
    level: levelOf(finding),
    message: { text: told.join("\n") },
    locations: [
      {
        ...(at === null ? {} : { physicalLocation: locationOf(at, options) }),
        logicalLocations: [{ name: id, fullyQualifiedName: fn, kind: "function" }],
      },
    ],
    partialFingerprints: { "idemFindingId/v1": finding.id },
    ...(hasBaseline ? { baselineState: finding.isKnown ? "unchanged" : "new" } : {}),
    ...(because === null ? {} : { suppressions: [{ kind: "external", status: "accepted", justification: because }] }),
    ...(mend === null || mend.edits.length === 0 ? {} : { fixes: [fixOf(mend, options)] }),
    properties: { function: fn, schedule, repeat },
  };
}

export function sarifOf({ functions, leftOut, summary }: VerifyReport, options: SarifOptions) {
  const hasBaseline = summary.baseline !== null;
  const notices = [
    ...summary.problems.map((text) => ({ level: "error", message: { text } })),
    ...leftOut.map(({ id, why }) => ({ level: "note", message: { text: `${id} was left out: ${why}` } })),
  ];
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "idem verify",
            semanticVersion: options.version,
            rules: kinds.map((kind) => ({
              id: kind,
              name: rules[kind].name,
              shortDescription: { text: rules[kind].short },
              fullDescription: { text: rules[kind].full },
              help: { text: `${rules[kind].full} docs/verify.md of the package idem has the table of verdicts.` },
              defaultConfiguration: { level: kind === "UNPROVEN" ? "warning" : "error" },
            })),
          },
        },
        automationDetails: { id: "idem-verify/" },
        columnKind: "utf16CodeUnits",
        invocations: [
          {
            executionSuccessful: true,
            exitCode: options.exitCode,
            ...(notices.length === 0 ? {} : { toolExecutionNotifications: notices }),
          },
        ],
        results: functions.flatMap((verified) =>
          verified.findings.map((finding) => resultOf(verified, finding, hasBaseline, options)),
        ),
      },
    ],
  };
}
