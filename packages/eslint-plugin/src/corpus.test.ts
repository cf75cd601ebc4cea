// The programs of `idem verify`, linted: which of the faults a reading finds, and that what is mended is passed over.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Linter } from "eslint";
import { expect, test } from "vitest";
import { lint } from "./cases.suite.ts";
import plugin from "./index.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const corpus = join(root, "verify-corpus");
const page = readFileSync(join(root, "docs", "lint.md"), "utf8");
const { recommended, strict } = plugin.configs;

const pairs = readdirSync(corpus, { recursive: true, encoding: "utf8" })
  // Those of handlers are no durable functions: they are tried with the verifier only (docs/lint.md).
  .filter((path) => existsSync(join(corpus, path, "faulty.mjs")) && !/^handlers\b/.test(path))
  .sort();

function told(path: string, { rules }: Linter.Config): string[] {
  // That a key has no comment is no fault of the program.
  const asked = { ...rules, "idem/key-reason": "off" } as Linter.RulesRecord;
  const found = lint(readFileSync(join(corpus, path), "utf8"), asked, { path: "code.mjs" });
  return [...new Set(found.map(({ ruleId, message }) => ruleId?.replace("idem/", "") ?? message))].sort();
}

const rows = pairs.map((name) => {
  const verdict = /✗ (\w+)/.exec(readFileSync(join(corpus, name, "faulty.mjs"), "utf8"))?.[1] ?? "";
  const usual = told(join(name, "faulty.mjs"), recommended);
  const only = told(join(name, "faulty.mjs"), strict).filter((rule) => !usual.includes(rule));
  return { name, verdict, usual, only };
});

test("no mended program is told of, by either preset", () => {
  const alarmed = pairs.filter((name) =>
    [recommended, strict].some((each) => told(join(name, "mended.mjs"), each).length > 0),
  );
  expect(alarmed).toEqual([]);
});

test("the page's table says of each fault which tool finds it", () => {
  const lines = rows.map(({ name, verdict, usual, only }) => {
    const rules = [...usual.map((rule) => `\`${rule}\``), ...only.map((rule) => `strict: \`${rule}\``)].join(", ");
    return `| \`${name}\` | ${verdict} | ${rules === "" ? "–" : rules} |`;
  });
  const [, section = ""] = page.split("\n## Which fault, which tool\n");
  const table = section
    .split(/\n## /)[0]!
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  expect(table).toEqual(lines);
});

test("the page's sums are the table's", () => {
  const usual = rows.filter(({ usual: found }) => found.length > 0).length;
  const both = rows.filter(({ usual: found, only }) => found.length + only.length > 0).length;
  const said = /Of (\d+) faults `recommended` finds (\d+) and `strict` (\d+)/.exec(page)?.slice(1).map(Number);
  expect(said).toEqual([rows.length, usual, both]);
});
