// The verifier's reports: one to the screen, others into files, each as its reader knows it.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readPackageText } from "../platform/package-files.ts";
import { junitOf } from "../verify/junit.ts";
import { jsonOf, type VerifyReport } from "../verify/report.ts";
import { sarifOf } from "../verify/sarif.ts";
import type { Context } from "./command.ts";
import { cannot } from "./load-program.ts";
import { printable } from "./printable.ts";
import { showReport } from "./show-verdicts.ts";
import { projectPath } from "./verify-inputs.ts";

export const reporters = ["text", "json", "junit", "sarif"] as const;
type Reporter = (typeof reporters)[number];
/** Reporters for files; the one for people is drawn for a screen. */
type Written = Exclude<Reporter, "text">;

export interface Reports {
  readonly screen: Reporter;
  readonly files: readonly { readonly reporter: Written; readonly file: string }[];
}

/** Each `--output` belongs to the `--reporter` in the same place. */
export function readReports({ lists, isJson }: Context): Reports {
  const asked = (lists.reporter ?? []).map((name) => {
    const found = reporters.find((each) => each === name);
    if (found === undefined) throw cannot(`--reporter is "${printable(name)}"; it is one of ${reporters.join(", ")}.`);
    return found;
  });
  const outputs = lists.output ?? [];
  if (outputs.length === 0) {
    const all = [...new Set<Reporter>([...asked, ...(isJson ? (["json"] as const) : [])])];
    if (all.length > 1)
      throw cannot(`${all.join(" and ")} do not fit on one screen: give each --reporter its --output.`);
    return { screen: all[0] ?? "text", files: [] };
  }
  if (outputs.length !== asked.length)
    throw cannot(`There are ${asked.length} --reporter and ${outputs.length} --output: each report has its file.`);
  const files = outputs.map((file, i) => {
    const reporter = asked[i]!;
    if (reporter === "text") throw cannot("--reporter text is for a screen: leave its --output out.");
    return { reporter, file };
  });
  return { screen: isJson ? "json" : "text", files };
}

export function showReports(
  context: Context,
  { screen, files }: Reports,
  report: VerifyReport,
  exitCode: number,
): void {
  const { io } = context;
  for (const { reporter, file } of files) {
    const path = resolve(io.cwd, file);
    try {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, textOf(context, reporter, report, exitCode));
    } catch (error) {
      throw cannot(`${printable(file)} cannot be written: ${(error as Error).message}.`);
    }
  }
  if (screen === "text") showReport(context, report);
  else io.out.write(textOf(context, screen, report, exitCode));
}

const pretty = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function textOf({ io }: Context, reporter: Written, report: VerifyReport, exitCode: number): string {
  const shorten = (file: string): string => projectPath(io.cwd, file);
  switch (reporter) {
    case "json":
      return pretty(jsonOf(report, shorten));
    case "junit":
      return junitOf(report, shorten);
    case "sarif": {
      const { version } = JSON.parse(readPackageText("../package.json")) as { version: string };
      const root = repositoryOf(io.cwd);
      const pathOf = (file: string): string | null => {
        const path = projectPath(root, file);
        return path.startsWith("../") || path.startsWith("/") ? null : path;
      };
      return pretty(sarifOf(report, { version, pathOf, exitCode }));
    }
  }
}

/** Code hosts look for a file from the repository's root, wherever in it the project lies. */
export function repositoryOf(cwd: string): string {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return cwd;
  }
}
