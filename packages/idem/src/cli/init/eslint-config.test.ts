import { describe, expect, test } from "vitest";
import { withPlugin } from "./eslint-config.ts";

const entry = '{ ...idem.configs.recommended, ignores: ["**/*.test.*", "**/*.spec.*"] },';
const edited = (text: string) => {
  const first = withPlugin(text);
  if (first.kind !== "edited") throw new Error(`it is ${first.kind}`);
  expect(withPlugin(first.text)).toEqual({ kind: "same" });
  return first.text;
};

describe("the plugin is put into a list that is exported", () => {
  test.each<[string, string, string]>([
    [
      "literally",
      '// @ts-check\nimport js from "@eslint/js";\n\nexport default [\n  js.configs.recommended,\n];\n',
      `// @ts-check\nimport idem from "eslint-plugin-idem";\nimport js from "@eslint/js";\n\nexport default [\n  ${entry}\n  js.configs.recommended,\n];\n`,
    ],
    ["on one line", "export default [];\n", `import idem from "eslint-plugin-idem";\nexport default [${entry} ];\n`],
    [
      "by defineConfig",
      'import { defineConfig } from "eslint/config";\nexport default defineConfig([\n  { rules: {} },\n]);\n',
      `import idem from "eslint-plugin-idem";\nimport { defineConfig } from "eslint/config";\nexport default defineConfig([\n  ${entry}\n  { rules: {} },\n]);\n`,
    ],
    [
      "by typescript-eslint, without semicolons, in single quotes",
      "import tseslint from 'typescript-eslint'\n\nexport default tseslint.config(\n  tseslint.configs.strict,\n)\n",
      `import idem from 'eslint-plugin-idem'\nimport tseslint from 'typescript-eslint'\n\nexport default tseslint.config(\n  ${entry.replaceAll('"', "'")} tseslint.configs.strict,\n)\n`,
    ],
    [
      "by CommonJS, with lines of Windows",
      'const js = require("@eslint/js");\r\nmodule.exports = [\r\n\tjs.configs.recommended,\r\n];\r\n',
      `const { default: idem } = require("eslint-plugin-idem");\r\nconst js = require("@eslint/js");\r\nmodule.exports = [\r\n\t${entry}\r\n\tjs.configs.recommended,\r\n];\r\n`,
    ],
    [
      "by its name, with a type",
      'import type { Linter } from "eslint";\nconst config: Linter.Config[] = [\n  { rules: {} },\n];\n\nexport default config;\n',
      `import idem from "eslint-plugin-idem";\nimport type { Linter } from "eslint";\nconst config: Linter.Config[] = [\n  ${entry}\n  { rules: {} },\n];\n\nexport default config;\n`,
    ],
  ])("%s", (_, before, after) => {
    expect(edited(before)).toBe(after);
  });

  test("under another name where the usual one is taken, and not where a comment or a text looks like a list", () => {
    const before = '/* export default [ */\nconst idem = "export default [";\nexport default [\n  { rules: {} },\n];\n';
    expect(edited(before)).toBe(
      `/* export default [ */\nimport idemPlugin from "eslint-plugin-idem";\nconst idem = "export default [";\nexport default [\n  ${entry.replace("...idem.", "...idemPlugin.")}\n  { rules: {} },\n];\n`,
    );
  });
});

test.each([
  'import antfu from "@antfu/eslint-config";\nexport default antfu({ vue: true });\n',
  "export default await load();\n",
  "export default { rules: {} };\n",
  "export default config;\n",
  "const a = [];\nexport { a as default };\n",
  "",
])("%s is left, with the lines to paste", (text) => {
  expect(withPlugin(text)).toEqual({
    kind: "left",
    why: expect.stringContaining("no list"),
    paste: [expect.stringContaining("eslint-plugin-idem"), expect.stringContaining("idem.configs.recommended")],
  });
});
