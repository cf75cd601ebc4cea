// Finds files that ship inside this package, wherever it runs from: src in tests, modules for those who look inside, dist/parts when installed.
import { readdirSync, readFileSync } from "node:fs";

/**
 * A file of this package, from the folder this file is in. Written as one address: bundlers take a path with `import.meta.url` behind it for a file that
 * they have to find while they build, and Turbopack ends the build of a whole application where it does not.
 */
export const fileBeside = (path: string): URL => new URL(import.meta.url.replace(/[^/]*$/, path));

/**
 * Code that is loaded by its address, for a thread or a process of its own: always as it is published. A `.cjs` is built into one file with
 * everything it needs; a thread of such a file is there 10 ms sooner, for none of Node's loader of modules is started in it.
 */
export const builtFile = (path: string): URL =>
  fileBeside(`../../dist/${path.endsWith(".cjs") ? `parts/${path.replaceAll("/", "-")}` : `${path}.js`}`);

export const readPackageText = (path: string): string => readFileSync(fileBeside(`../${path}`), "utf8");

/** The version of this package; a bundle that left its package.json behind does not know it. */
export function packageVersion(): string {
  try {
    return (JSON.parse(readPackageText("../package.json")) as { version: string }).version;
  } catch {
    return "unknown";
  }
}

/** Files built beside the code, by name; from src as from dist. Null when they were not built. */
export function readBuiltFolder(path: string): ReadonlyMap<string, Buffer> | null {
  const folder = fileBeside(`../../dist/${path}/`);
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    return new Map(names.map(({ name }) => [name, readFileSync(new URL(encodeURIComponent(name), folder))]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** The Markdown files under a folder of this package, by their names without the ending, in order. */
export const packagePages = (folder: string): readonly string[] =>
  readdirSync(fileBeside(`../${folder}/`), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.replaceAll("\\", "/").replace(/\.md$/, ""))
    .sort();
