// docs/lint.md is what the rules do: its code is linted, its tables are compared.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Linter } from "eslint";
import { expect, test } from "vitest";
import { lint } from "./cases.suite.ts";
import plugin from "./index.ts";

const page = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "docs", "lint.md"), "utf8");
const rules = Object.entries(plugin.rules!);
const section = (rule: string): string => page.split(`\n### ${rule}\n`)[1]?.split(/\n##/)[0] ?? "";
const block = (rule: string, which: "Wrong" | "Right"): string =>
  new RegExp(`^${which}:\n\`\`\`js\n([\\s\\S]*?)\`\`\``, "m").exec(section(rule))?.[1] ?? "";
const recommended = plugin.configs.recommended.rules as Linter.RulesRecord;
const told = (code: string, asked: Linter.RulesRecord) => [...new Set(lint(code, asked).map(({ ruleId }) => ruleId))];

test.each(rules.map(([name]) => name))(
  "the page's wrong code of %s is told by that rule, and by no other of recommended",
  (name) => {
    expect(told(block(name, "Wrong"), { ...recommended, [`idem/${name}`]: "error" })).toEqual([`idem/${name}`]);
  },
);

test.each(rules.map(([name]) => name))(
  "the page's right code of %s is passed over by it and by recommended",
  (name) => {
    expect(block(name, "Right")).not.toBe("");
    expect(told(block(name, "Right"), { ...recommended, [`idem/${name}`]: "error" })).toEqual([]);
  },
);

test("the page's table has each rule with its preset and with what it changes, and each rule leads to its section", () => {
  const rows = [...page.matchAll(/^\| \[`([a-z-]+)`\]\(#\1\) \| (\w+) \| (\w*) ?\|/gm)].map(([, ...row]) =>
    row.join(" ").trim(),
  );
  const expected = rules.map(([name, { meta }]) => {
    const preset = `idem/${name}` in recommended ? "recommended" : "strict";
    return [name, preset, meta?.fixable ? "fixes" : meta?.hasSuggestions ? "suggests" : ""].join(" ").trim();
  });
  expect(rows.sort()).toEqual(expected.sort());
  for (const [name, { meta }] of rules) expect(meta?.docs?.url).toMatch(new RegExp(`^file:.*/docs/lint\\.md#${name}$`));
});

test("strict has every rule, and recommended all but those that ask for a word or a number", () => {
  const strict = Object.keys(plugin.configs.strict.rules!);
  expect(strict.sort()).toEqual(rules.map(([name]) => `idem/${name}`).sort());
  expect(strict.filter((name) => !(name in recommended))).toEqual(["idem/key-reason", "idem/unique-step-id"]);
});

test("what the page gives oxlint is recommended", () => {
  const config = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? "{}") as { rules: Linter.RulesRecord };
  expect(config.rules).toEqual(recommended);
});
