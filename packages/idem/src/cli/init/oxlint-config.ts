// The plugin in a configuration of oxlint: `jsPlugins`, and the rules of the preset by their names (oxlint knows no presets of plugins). Pure.
import { readLooseJson } from "../../verify/worker/typescript/tsconfig.ts";
import type { Edited } from "./eslint-config.ts";
import { withItem, withMember } from "./json-text.ts";

export const oxlintName = ".oxlintrc.json";

/** `recommended` of eslint-plugin-idem; a test compares. */
export const recommendedRules: readonly string[] = [
  "effect-in-step",
  "function-key",
  "destination-key",
  "no-random-key",
  "no-attempt-key",
  "stable-step-id",
  "no-nested-step",
  "await-step",
  "one-effect-per-step",
  "no-outer-write",
  "no-increment",
  "insert-on-conflict",
  "no-check-then-act",
  "send-with-id",
  "verify-before-claim",
  "no-swallowed-crash",
].map((name) => `idem/${name}`);

const pasted = [
  '"jsPlugins": ["eslint-plugin-idem"],',
  '"rules": { "idem/effect-in-step": "error", … } as docs/lint.md has them',
];

export const newOxlintConfig = (): string => {
  const rules = Object.fromEntries(recommendedRules.map((name) => [name, "error"]));
  // A package that is linked into node_modules would be linted with the rest.
  const ignorePatterns = [
    "**/node_modules/**",
    "**/*.test.*",
    "**/*.spec.*",
    "**/dist/**",
    "**/build/**",
    "**/coverage/**",
  ];
  return `${JSON.stringify({ jsPlugins: ["eslint-plugin-idem"], ignorePatterns, rules }, null, 2)}\n`;
};

export function withOxlintPlugin(text: string): Edited {
  try {
    const { jsPlugins = [] } = readLooseJson(text) as {
      jsPlugins?: readonly (string | { readonly specifier?: string })[];
    };
    const has = jsPlugins.some((each) => (typeof each === "string" ? each : each.specifier) === "eslint-plugin-idem");
    // By then the choice of its rules is theirs.
    if (has) return { kind: "same" };
    const plugged = withItem(text, "jsPlugins", "eslint-plugin-idem");
    const edited = recommendedRules.reduce((sum, name) => withMember(sum, "rules", name, "error"), plugged);
    readLooseJson(edited);
    return { kind: "edited", text: edited };
  } catch (error) {
    return { kind: "left", why: `it cannot be read: ${(error as Error).message}`, paste: pasted };
  }
}
