import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { codeText } from "./code-text.ts";

const written = `
import { create } from "stripe-lib";
import { rows } from "./db.js";
export const handler = async ({ event, step }: { event: Event; step: any }) => {
  // why it is so
  const rate = (event as { data: { rate: number } }).data.rate / 60_000;
  const all = await step.run('list', () => rows.filter(each => each.id !== 'it\\'s // none' && /[/'"]x/.test(each.id)));
  if (rate > 1) { return null; }
  await step.run("send", ({ key }: { key: string }) => create({ at: \`a \${all.map((each: any) => \`<\${each}>\`)} b\`, key, }));
  return { done: true } as const
};
`;

const handlerOf = (code: string): string => {
  const from = code.indexOf("async (");
  return code.slice(from, code.lastIndexOf("}") + 1);
};

const swc = createRequire(import.meta.url)("@swc/wasm") as {
  transformSync(text: string, options: object): { readonly code: string };
};
const bySwc = (type: "es6" | "commonjs"): string =>
  swc.transformSync(written, { jsc: { target: "es2022", parser: { syntax: "typescript" } }, module: { type } }).code;

// As tsc prints it, for CommonJS.
const compiled = `async ({ event, step }) => {
    // why it is so
    const rate = event.data.rate / 60_000;
    const all = await step.run('list', () => db_js_1.rows.filter(each => each.id !== 'it\\'s // none' && /[/'"]x/.test(each.id)));
    if (rate > 1) {
        return null;
    }
    await step.run("send", ({ key }) => (0, stripe_lib_1.create)({ at: \`a \${all.map((each) => \`<\${each}>\`)} b\`, key, }));
    return { done: true };
}`;

// As Node takes types out: blanks stand where they stood.
const stripped = written
  .replace(": { event: Event; step: any }", (text) => " ".repeat(text.length))
  .replace(" as { data: { rate: number } }", (text) => " ".repeat(text.length))
  .replace(": { key: string }", (text) => " ".repeat(text.length))
  .replace(": any) => `", "      ) => `")
  .replace(" as const", "         ");

// As esbuild prints it.
const printed = `async ({ event, step }) => {
  const rate = event.data.rate / 6e4;
  const all = await step.run("list", () => rows.filter((each) => each.id !== "it's // none" && /[/'"]x/.test(each.id)));
  if (rate > 1) {
    return null;
  }
  await step.run("send", ({ key }) => create({ at: \`a \${all.map((each) => \`<\${each}>\`)} b\`, key }));
  return { done: true };
}`;

describe("the text of a function's code", () => {
  test("is the same whoever took its types out, formatted it or made CommonJS of it", () => {
    const text = codeText(handlerOf(bySwc("es6")));
    expect(text).toContain("rate > 1");
    expect(codeText(handlerOf(bySwc("commonjs")))).toBe(text);
    expect(codeText(compiled)).toBe(text);
    expect(codeText(handlerOf(stripped))).toBe(text);
    expect(codeText(printed)).toBe(text);
  });

  test.each([
    ["a value", "rate > 1", "rate > 2"],
    ["a name", "rows", "others"],
    ["what a string says", "it's // none", "it's // all"],
    ["a template", "<$", "<b>$"],
    ["a regular expression", "[/'\"]x", "[/'\"]y"],
    ["an argument", "create({ at", "create({ of"],
    ["an order", "key }", "key, key }"],
    ["a call", 'step.run("send"', 'step.sent("send"'],
  ])("is another one where %s is", (_, from, to) => {
    expect(printed).toContain(from);
    expect(codeText(printed.replace(from, to))).not.toBe(codeText(printed));
  });

  test("is read to its end, whatever it is", () => {
    for (const text of ["", "`${", "'", "/", "function f() { [native code] }", "{}}}", "a\u2028/* b"]) {
      expect(typeof codeText(text)).toBe("string");
    }
  });
});
