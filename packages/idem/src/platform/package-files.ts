// Reads files that ship inside this package, wherever it runs from (src in tests, dist when installed).
import { readFileSync } from "node:fs";

export const readPackageText = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** The version of this package; a bundle that left its package.json behind does not know it. */
export function packageVersion(): string {
  try {
    return (JSON.parse(readPackageText("../package.json")) as { version: string }).version;
  } catch {
    return "unknown";
  }
}
