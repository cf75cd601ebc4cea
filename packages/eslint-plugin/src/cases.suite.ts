// A rule's cases: right code is passed over and wrong code reported, read by the parser of ESLint and by that of TypeScript alike.
import parser from "@typescript-eslint/parser";
import { Linter } from "eslint";
import { describe, expect, test } from "vitest";
import plugin from "./index.ts";

interface Wrong {
  readonly code: string;
  /** The messages, in the order of the source. */
  readonly ids: readonly string[];
  /** A part of the message. */
  readonly says?: string;
  /** The code with every fix and the first suggestion made. */
  readonly mended?: string;
}

export interface Cases {
  readonly options?: Record<string, unknown>;
  readonly right: Readonly<Record<string, string>>;
  readonly wrong: Readonly<Record<string, Wrong>>;
  readonly path?: string;
  /** For code with types in it. */
  readonly isTyped?: boolean;
}

const linter = new Linter();

export function lint(
  code: string,
  rules: Linter.RulesRecord,
  { isTyped = false, path = "code.js" } = {},
): Linter.LintMessage[] {
  const config: Linter.Config = {
    files: ["**/*.{js,mjs,ts}"],
    plugins: { idem: plugin },
    rules,
    linterOptions: { reportUnusedDisableDirectives: "off" },
    languageOptions: isTyped ? { parser: parser as Linter.Parser } : {},
  };
  return linter.verify(code, [config], { filename: path });
}

export function tell(rule: string, { right, wrong, options, path, isTyped }: Cases): void {
  const rules: Linter.RulesRecord = { [`idem/${rule}`]: ["error", ...(options === undefined ? [] : [options])] };
  const where = path === undefined ? {} : { path };
  const inBoth = (code: string): Linter.LintMessage[] => {
    const typed = lint(code, rules, { isTyped: true, ...where });
    if (isTyped !== true) expect(brief(lint(code, rules, where))).toEqual(brief(typed));
    return typed;
  };
  describe(`${rule} passes over`, () => {
    test.each(Object.entries(right))("%s", (_title, code) => {
      expect(inBoth(code).map(({ message }) => message)).toEqual([]);
    });
  });
  describe(`${rule} tells of`, () => {
    test.each(Object.entries(wrong))("%s", (_title, { code, ids, says, mended }) => {
      const found = inBoth(code);
      expect(found.map(({ messageId, message }) => messageId ?? message)).toEqual(ids);
      if (says !== undefined) expect(found.map(({ message }) => message).join("\n")).toContain(says);
      if (mended !== undefined) expect(changed(code, found)).toBe(mended);
    });
  });
}

const brief = (messages: readonly Linter.LintMessage[]): unknown[] =>
  messages.map(({ line, column, message }) => [line, column, message]);

function changed(code: string, messages: readonly Linter.LintMessage[]): string {
  const edits = messages.flatMap(({ fix, suggestions }) => fix ?? suggestions?.[0]?.fix ?? []);
  return edits
    .sort((a, b) => b.range[0] - a.range[0])
    .reduce((text, { range, text: put }) => text.slice(0, range[0]) + put + text.slice(range[1]), code);
}
