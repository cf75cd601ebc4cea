// The names a typed CommonJS file exports, read from its transpiled code: an import has to know them before the file runs.
import { findFile, isTyped } from "./find-file.ts";
import { transpile } from "./transpile.ts";

const known = new Map<string, readonly string[]>();

export function exportNames(file: string): readonly string[] {
  const before = known.get(file);
  if (before !== undefined) return before;
  // Two files that export each other's all.
  known.set(file, []);
  const names = new Set(namesIn(file));
  known.set(file, [...names]);
  return [...names];
}

function namesIn(file: string): string[] {
  const code = transpile(file, "commonjs");
  // The transpiler's note for readers that cannot run the code: `0 && (module.exports = { a: null, ... })`.
  const note = /^0 && \(module\.exports = \{([\s\S]*?)\}\);/m.exec(code)?.[1] ?? "";
  const own = [...note.matchAll(/(?:^|[\s,{])(?:"([^"]+)"|([\w$]+)): null/g)].map(
    ([, quoted, plain]) => quoted ?? plain!,
  );
  const defined = [...code.matchAll(/^Object\.defineProperty\(exports, "([^"]+)"/gm)].map(([, name]) => name!);
  const assigned = [...code.matchAll(/^(?:module\.)?exports\.([\w$]+) =/gm)].map(([, name]) => name!);
  const others = [...code.matchAll(/_export_star\(require\("([^"]+)"\), exports\)/g)].flatMap(([, name]) => {
    const found = findFile(name!, file);
    return found !== null && isTyped(found) ? exportNames(found) : [];
  });
  return [...own, ...defined, ...assigned, ...others].filter((name) => name !== "__esModule");
}
