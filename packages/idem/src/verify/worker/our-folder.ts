// The folder of this package: nothing in there is the user's code.
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";
import { fileBeside } from "../../platform/package-files.ts";

/** Ends with a separator. */
export const ourFolder = realpathSync(fileURLToPath(fileBeside(".."))) + sep;

export const isOurs = (file: string): boolean => file.startsWith(ourFolder);
