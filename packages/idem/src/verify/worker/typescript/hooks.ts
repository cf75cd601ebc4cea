// TypeScript for a program that is loaded with `import`: in Node's module hooks, on their own thread.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { exportNames } from "./export-names.ts";
import { fileAt, findFile, isTyped } from "./find-file.ts";
import { importOf } from "./import-of-life.ts";
import { requireName } from "./require.ts";
import { kindOf, transpile } from "./transpile.ts";

interface Resolved {
  readonly url: string;
  readonly format?: string | null;
}
interface Loaded {
  readonly format: string;
  readonly source?: string;
  readonly shortCircuit?: boolean;
}
interface Context {
  readonly parentURL?: string;
}
interface LoadContext {
  readonly importAttributes?: { readonly type?: string };
}

const fileOf = (url: string | undefined): string | null =>
  url?.startsWith("file:") === true ? fileURLToPath(new URL(url)) : null;

const missing = new Set(["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT", "ERR_PACKAGE_PATH_NOT_EXPORTED"]);

export async function resolve(
  name: string,
  context: Context,
  next: (name: string, context: Context) => Promise<Resolved>,
): Promise<Resolved> {
  const brought = importOf(name);
  if (brought !== null) return resolve(brought.name, { ...context, parentURL: brought.parentURL }, next);
  const from = fileOf(context.parentURL);
  const given = fileOf(name);
  // A name that begins with # is one of package.json's; a query makes another instance of the same file.
  const [, path, query = ""] = given === null ? /^(.[^?]*)(\?.*)?$/.exec(name)! : ["", given, new URL(name).search];
  const found = given !== null ? fileAt(given, true) : from === null ? null : findFile(path!, from);
  if (found !== null) return next(pathToFileURL(found).href + query, context);
  try {
    return await next(name, context);
  } catch (error) {
    const { code, url } = error as { code?: string; url?: string };
    if (from === null || !missing.has(code ?? "")) throw error;
    const other = otherFile(name, from, url);
    if (other === null) throw error;
    return next(pathToFileURL(other).href, context);
  }
}

/** Found by bundlers and not by Node: a package's folder or file without its ending, `.js` of `exports` and `imports` that is `.ts`. */
function otherFile(name: string, from: string, url: string | undefined): string | null {
  const tried = fileOf(url);
  const beside = tried === null ? null : fileAt(tried, true);
  if (beside !== null) return beside;
  try {
    return createRequire(from).resolve(name);
  } catch {
    return null;
  }
}

export async function load(
  url: string,
  context: LoadContext,
  next: (url: string, context: LoadContext) => Promise<Loaded>,
): Promise<Loaded> {
  const file = fileOf(url);
  if (file === null) return next(url, context);
  if (file.endsWith(".json") && context.importAttributes?.type === undefined)
    return { format: "module", source: jsonModule(file), shortCircuit: true };
  if (!isTyped(file)) return next(url, context);
  if (kindOf(file) === "module") return { format: "module", source: transpile(file, "module"), shortCircuit: true };
  return { format: "module", source: facade(file), shortCircuit: true };
}

/** A typed CommonJS file is loaded by `require`, as its program would; an import sees its names. */
function facade(file: string): string {
  const ask = `globalThis[Symbol.for("${requireName}")]`;
  return `const all = ${ask}(${JSON.stringify(file)}, import.meta.url);\n${exportsOf(exportNames(file))}`;
}

/** Without `with { type: "json" }`, as bundlers take it: the names at its top beside the whole. */
function jsonModule(file: string): string {
  const text = readFileSync(file, "utf8");
  const all: unknown = JSON.parse(text);
  const names = typeof all === "object" && all !== null && !Array.isArray(all) ? Object.keys(all) : [];
  return `const all = ${text};\n${exportsOf(names)}`;
}

const exportsOf = (names: readonly string[]): string =>
  [
    "export default all;",
    ...names
      .filter((name) => name !== "default")
      .map((name, i) => `const _${i} = all[${JSON.stringify(name)}]; export { _${i} as ${JSON.stringify(name)} };`),
  ].join("\n");
