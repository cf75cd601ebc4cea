// Where this package is: what stands in there is no code of the user's.
import { realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Ends with a separator. */
export const ourFolder = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "..", "..")) + sep;

export const isOurs = (file: string): boolean => file.startsWith(ourFolder);
