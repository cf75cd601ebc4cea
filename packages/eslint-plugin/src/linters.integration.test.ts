// The built plugin in the real linters. ESLint 9 and 10, and oxlint as the binary it is, find the same in the whole corpus of `idem verify`.
import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ESLint as ESLint10 } from "eslint";
import { ESLint as ESLint9 } from "eslint9";
import { afterAll, expect, test } from "vitest";

const here = dirname(fileURLToPath(import.meta.url));
const corpus = join(here, "..", "..", "..", "verify-corpus");
const built = join(here, "..", "dist", "index.js");
const folder = mkdtempSync(join(tmpdir(), "idem-lint-"));
afterAll(() => rmSync(folder, { recursive: true }));

type Told = readonly string[];

// Those with databases and those of handlers are tried with the verifier only (docs/lint.md).
const programs = readdirSync(corpus, { recursive: true, encoding: "utf8" }).filter((path) =>
  /^(?!databases|handlers).*(faulty|mended)\.mjs$/.test(path),
);

async function byESLint(ESLint: typeof ESLint10): Promise<Told> {
  const { default: plugin } = (await import(built)) as typeof import("./index.ts");
  const linter = new ESLint({ cwd: corpus, overrideConfigFile: true, overrideConfig: [plugin.configs.strict] });
  const results = await linter.lintFiles([...programs]);
  const told = results.flatMap(({ filePath, messages }) =>
    messages.map(({ ruleId, line, message }) => `${relative(corpus, filePath)}:${line} ${ruleId} ${message}`),
  );
  return told.sort();
}

async function byOxlint(): Promise<Told> {
  const { default: plugin } = (await import(built)) as typeof import("./index.ts");
  const config = join(folder, ".oxlintrc.json");
  const rules = plugin.configs.strict.rules;
  writeFileSync(config, JSON.stringify({ jsPlugins: [built], categories: { correctness: "off" }, rules }));
  const binary = join(dirname(createRequire(import.meta.url).resolve("oxlint/package.json")), "bin", "oxlint");
  const run = promisify(execFile)(process.execPath, [binary, "-c", config, "--format", "json", ...programs], {
    cwd: corpus,
    maxBuffer: 1 << 26,
  });
  // It ends with 1 where something was found.
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const { diagnostics } = JSON.parse(stdout) as {
    diagnostics: { message: string; code: string; filename: string; labels: { span: { line: number } }[] }[];
  };
  const told = diagnostics.map(
    ({ message, code, filename, labels }) =>
      `${filename}:${labels[0]!.span.line} ${code.replace(/^(\w+)\((.*)\)$/, "$1/$2")} ${message}`,
  );
  return told.sort();
}

const by10 = byESLint(ESLint10);

test("ESLint 10 loads the package as it is built, and every rule of strict that the corpus breaks speaks", async () => {
  const told = await by10;
  const faults = programs.filter((path) => path.endsWith("faulty.mjs")).length;
  expect(faults).toBeGreaterThan(90);
  expect(new Set(told.filter((each) => each.includes("/faulty.mjs")).map((each) => each.split(":")[0])).size).toBe(
    faults,
  );
});

test("ESLint 9 tells the same as ESLint 10", async () => {
  expect(await byESLint(ESLint9 as unknown as typeof ESLint10)).toEqual(await by10);
});

test("oxlint tells the same as ESLint 10, through jsPlugins", async () => {
  expect(await byOxlint()).toEqual(await by10);
});

test("the version that the plugin says is the package's own", async () => {
  const { default: plugin } = (await import(built)) as typeof import("./index.ts");
  const { name, version } = JSON.parse(readFileSync(join(here, "..", "package.json"), "utf8")) as {
    name: string;
    version: string;
  };
  expect(plugin.meta).toMatchObject({ name, version });
});
