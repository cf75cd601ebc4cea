// The plugin in a flat configuration of ESLint: a new one, or two lines in one that is there. Its entry stands first in the list, where no bracket has to be
// counted to find the place; its rules are nobody else's, so the order does not matter. Pure.

export const eslintNames = ["js", "mjs", "cjs", "ts", "mts", "cts"].map((ending) => `eslint.config.${ending}`);

export type Edited =
  | { readonly kind: "edited"; readonly text: string }
  | { readonly kind: "same" }
  /** It cannot be edited safely. */
  | { readonly kind: "left"; readonly why: string; readonly paste: readonly string[] };

/** Tests count calls in variables and send the same event twice on purpose. */
const testFiles = '["**/*.test.*", "**/*.spec.*"]';
const entryOf = (name: string): string => `{ ...${name}.configs.recommended, ignores: ${testFiles} },`;

const built = '["**/dist/**", "**/build/**", "**/coverage/**"]';
const newPlain = [
  'import idem from "eslint-plugin-idem";',
  "",
  "export default [",
  `  { ignores: ${built} },`,
  `  { ...idem.configs.recommended, files: ["**/*.{js,mjs,cjs}"], ignores: ${testFiles} },`,
  "];",
];
const newTyped = [
  'import parser from "@typescript-eslint/parser";',
  'import idem from "eslint-plugin-idem";',
  "",
  "export default [",
  `  { ignores: ${built} },`,
  "  {",
  "    ...idem.configs.recommended,",
  '    files: ["**/*.{ts,tsx,mts,cts,js,mjs,cjs}"],',
  `    ignores: ${testFiles},`,
  "    languageOptions: { parser },",
  "  },",
  "];",
];

export const newEslintConfig = (isTyped: boolean): string => `${(isTyped ? newTyped : newPlain).join("\n")}\n`;

/** The same length, with spaces where comments and texts are: what is found there is code. */
const codeOf = (text: string): string =>
  text.replaceAll(
    /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g,
    (token) => token.replaceAll(/[^\n\r]/g, " "),
  );

/** The beginning of a list of configurations: behind its bracket. Of other functions nobody knows what they make of their first argument. */
const opening = String.raw`(?:\[|(?:defineConfig|\w*[eE]slint\w*\.config)\(\s*\[?)`;

/** Behind the bracket of the list that is exported; null where it is something else. */
function listIn(code: string): number | null {
  const exported = /^(?:export\s+default|module\.exports\s*=)\s+/m.exec(code);
  if (exported === null) return null;
  const from = exported.index + exported[0].length;
  const direct = new RegExp(opening, "y");
  direct.lastIndex = from;
  if (direct.test(code)) return direct.lastIndex;
  // By its name: `const config = [` further up.
  const [, name] = /^([\w$]+)\s*;?\s*$/m.exec(code.slice(from)) ?? [];
  if (name === undefined) return null;
  const declared = new RegExp(
    String.raw`^(?:const|let|var)\s+${name.replaceAll("$", "\\$")}\s*(?::[^=\n]+)?=\s*${opening}`,
    "gm",
  );
  const found = [...code.matchAll(declared)];
  return found.length === 1 ? found[0]!.index + found[0]![0].length : null;
}

export function withPlugin(text: string): Edited {
  if (text.includes("eslint-plugin-idem")) return { kind: "same" };
  const code = codeOf(text);
  const name = /\bidem\b/.test(code) ? "idemPlugin" : "idem";
  const quote = (text.match(/'/g)?.length ?? 0) > (text.match(/"/g)?.length ?? 0) ? "'" : '"';
  const isCommon = /^module\.exports\s*=/m.test(code);
  const end = /;\s*$/m.test(code) ? ";" : "";
  const from = `${quote}eslint-plugin-idem${quote}`;
  // An ES module, as require gives it (Node 20.19 and later, which the plugin asks for).
  const head = isCommon ? `const { default: ${name} } = require(${from})${end}` : `import ${name} from ${from}${end}`;
  const entry = entryOf(name).replaceAll('"', quote);
  const place = listIn(code);
  if (place === null || (isCommon && /^export\s+default\b/m.test(code))) {
    const why = "it exports no list that can be found in its text";
    return { kind: "left", why, paste: [head, `${entry} // in the list that is exported`] };
  }
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  // A list on one line stays on it.
  const rest = /^[^\n]*/.exec(code.slice(place))![0].trim();
  const indent = /\n([ \t]+)\S/.exec(code.slice(place))?.[1] ?? "  ";
  const more =
    rest === "" || rest === "]" || rest === ")" ? `${eol}${indent}${entry}${rest === "" ? "" : eol}` : `${entry} `;
  const listed = text.slice(0, place) + more + text.slice(place);
  const first = isCommon ? /^(?:const|let|var|module\.exports)\b/m : /^(?:import|export|const|let|var)\b/m;
  const at = first.exec(code)!.index;
  return { kind: "edited", text: `${listed.slice(0, at)}${head}${eol}${listed.slice(at)}` };
}
