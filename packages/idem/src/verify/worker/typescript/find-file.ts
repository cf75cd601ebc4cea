// Which file an import means, by the rules of TypeScript and of bundlers: `.js` that is written as `.ts`, no ending, a folder's index, the names of tsconfig.json.
import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { settingsFor } from "./tsconfig.ts";

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;
const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const written: Readonly<Record<string, readonly string[]>> = {
  ".js": [".ts", ".tsx"],
  ".jsx": [".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
};
const endings = [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json"];

export const isTyped = (path: string): boolean => /\.([cm]?ts|[jt]sx)$/.test(path) && !/\.d\.[cm]?ts$/.test(path);

/** The file at a path as an import spells it; null where there is none. A typed file means its typed neighbour before what was compiled from it. */
export function fileAt(path: string, isFromTyped: boolean): string | null {
  const ending = /\.[cm]?jsx?$/.exec(path)?.[0] ?? "";
  const bare = path.slice(0, path.length - ending.length);
  const sources = (written[ending] ?? []).map((each) => bare + each);
  const exact = isFromTyped ? [...sources, path] : [path, ...sources];
  const found = exact.find(isFile) ?? endings.map((each) => path + each).find(isFile);
  if (found !== undefined) return found;
  if (!isFolder(path)) return null;
  const main = mainOf(path);
  if (main !== null) {
    const file = fileAt(resolve(path, main), isFromTyped);
    if (file !== null) return file;
  }
  return endings.map((each) => join(path, `index${each}`)).find(isFile) ?? null;
}

function mainOf(folder: string): string | null {
  const file = join(folder, "package.json");
  if (!isFile(file)) return null;
  const { main } = JSON.parse(readFileSync(file, "utf8")) as { main?: unknown };
  return typeof main === "string" && main !== "" && main !== "." && main !== "./" ? main : null;
}

const isRelative = (name: string): boolean => /^\.{1,2}(\/|$)/.test(name);

/** The paths that tsconfig.json gives a bare name, the most exact pattern first. */
function pathsOf(name: string, from: string): string[] {
  const { paths, baseUrl } = settingsFor(from);
  const matches = paths.flatMap(({ pattern, targets }) => {
    const [before = "", after] = pattern.split("*");
    if (after === undefined) return pattern === name ? [{ length: Number.POSITIVE_INFINITY, targets }] : [];
    if (name.length < before.length + after.length || !name.startsWith(before) || !name.endsWith(after)) return [];
    const part = name.slice(before.length, name.length - after.length);
    return [{ length: before.length, targets: targets.map((target) => target.replace("*", () => part)) }];
  });
  const best = matches.sort((a, b) => b.length - a.length)[0]?.targets ?? [];
  return baseUrl === null ? [...best] : [...best, join(baseUrl, name)];
}

/** The file that a name in a file of the user's means; null where Node has to find it: a package, a built-in. */
export function findFile(name: string, from: string): string | null {
  const isFromTyped = isTyped(from);
  if (isRelative(name)) return fileAt(resolve(dirname(from), name), isFromTyped);
  if (isAbsolute(name)) return fileAt(name, isFromTyped);
  // A name with # may be one of tsconfig.json's before it is one of package.json's.
  if (/^[a-z][a-z+.-]+:/i.test(name) || from.includes("/node_modules/")) return null;
  for (const path of pathsOf(name, from)) {
    const found = fileAt(path, true);
    if (found !== null) return found;
  }
  return null;
}
