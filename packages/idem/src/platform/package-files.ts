// Reads files that ship inside this package, wherever it runs from (src in tests, dist when installed).
import { readdirSync, readFileSync } from "node:fs";

export const readPackageText = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** The version of this package; a bundle that left its package.json behind does not know it. */
export function packageVersion(): string {
  try {
    return (JSON.parse(readPackageText("../package.json")) as { version: string }).version;
  } catch {
    return "unknown";
  }
}

/** What was built beside the code, by name; from src as from dist. Null when it was not built. */
export function readBuiltFolder(path: string): ReadonlyMap<string, Buffer> | null {
  const folder = new URL(`../../dist/${path}/`, import.meta.url);
  try {
    const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
    return new Map(names.map(({ name }) => [name, readFileSync(new URL(encodeURIComponent(name), folder))]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
