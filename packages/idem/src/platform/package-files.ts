// Reads files that ship inside this package, wherever it runs from (src in tests, dist when installed).
import { readFileSync } from "node:fs";

export const readPackageText = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
