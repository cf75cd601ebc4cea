// The modules of a project that define functions, by their text: `idem verify` will load them.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { readSource } from "../verify-inputs.ts";

/** More than any project has by hand; files beyond that are named by people. */
const filesMax = 20_000;
const bytesMax = 1024 * 1024;

const isElsewhere = (name: string): boolean =>
  name.startsWith(".") ||
  /^(node_modules|dist|build|out|coverage|tests?|__tests__|__mocks__|e2e|fixtures|vendor)$/.test(name);
const isModule = (name: string): boolean =>
  /\.([cm]?[jt]s|[jt]sx)$/.test(name) && !/\.d\.[cm]?ts$|\.(test|spec|config|stories)\.\w+$|^idem\.verify\./.test(name);

const defines = /\b([\w$]+)\s*\.\s*createFunction\s*(?:<[^()]*>)?\(/g;

export interface FoundModules {
  /** From the project's folder, with slashes, in the order of their names. */
  readonly modules: readonly string[];
  /** Those written for the `inngest` package: linted, and not verified. */
  readonly others: readonly string[];
}

/** `hasInngest`: the project depends on that package, so what is called `inngest` is its client. */
export function findFunctions(folder: string, hasInngest: boolean): FoundModules {
  const modules: string[] = [];
  const others: string[] = [];
  let looked = 0;
  const look = (path: string): void => {
    for (const entry of entriesOf(join(folder, path))) {
      const name = path === "" ? entry.name : `${path}/${entry.name}`;
      if (entry.isDirectory() && !isElsewhere(entry.name)) look(name);
      if (!entry.isFile() || !isModule(entry.name) || ++looked > filesMax) continue;
      const kind = kindOf(readSource(join(folder, name)) ?? "", hasInngest);
      if (kind !== null) (kind === "idem" ? modules : others).push(name);
    }
  };
  look("");
  return { modules, others };
}

/** None where the folder may not be read: files in there are named by people. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort(byName);
  } catch {
    return [];
  }
}

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : 1);

/** Whose functions a text defines; null for none. */
export function kindOf(text: string, hasInngest: boolean): "idem" | "inngest" | null {
  if (text.length > bytesMax) return null;
  const holders = [...text.matchAll(defines)].map(([, name]) => name!);
  if (holders.length === 0) return null;
  if (/["']idem["']/.test(text)) return "idem";
  const isTheirs = /["']inngest["']/.test(text) || (hasInngest && holders.every((name) => /inngest/i.test(name)));
  return isTheirs ? "inngest" : "idem";
}
