// `import()` in a CommonJS file: Node tells its hooks the file, and not the life whose code asks. So the name brings both along.

const scheme = "idem-import:";

/** The code, with what it imports asked for in the name of the module at `url`. */
export function asImportOf(code: string, url: string): string {
  if (!/\bimport\(/.test(code)) return code;
  const from = JSON.stringify(`${scheme}${encodeURIComponent(url)}:`);
  // On the first line, and after its directive: all lines stay where the source map has them.
  const prelude = `const __idemImport = (name, options) => import(${from} + name, options); `;
  return code
    .replace(/(?<![\w$.])import\(/g, "__idemImport(")
    .replace(/^("use strict";)?/, (directive) => directive + prelude);
}

/** The import that a name carries, with the module that asked; null where it carries none. */
export function importOf(name: string): { readonly name: string; readonly parentURL: string } | null {
  if (!name.startsWith(scheme)) return null;
  const rest = name.slice(scheme.length);
  const at = rest.indexOf(":");
  return { parentURL: decodeURIComponent(rest.slice(0, at)), name: rest.slice(at + 1) };
}
