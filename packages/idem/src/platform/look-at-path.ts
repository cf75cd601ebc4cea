// Looks at a path, to say why it could not be opened.
import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";

export interface PathLook {
  readonly kind: "file" | "folder" | "nothing";
  readonly hasFolder: boolean;
  /** Why neither it nor something beside it can be written, as the system calls it: EROFS, EACCES; null where it can. */
  readonly refusal: string | null;
}

export function lookAtPath(path: string): PathLook {
  const kindOf = (place: string) => {
    const found = statSync(place, { throwIfNoEntry: false });
    return found === undefined ? "nothing" : found.isDirectory() ? "folder" : "file";
  };
  const folder = dirname(path);
  try {
    const kind = kindOf(path);
    const hasFolder = kindOf(folder) === "folder";
    const refusal = (kind === "nothing" ? null : refusalAt(path)) ?? (hasFolder ? refusalAt(folder) : null);
    return { kind, hasFolder, refusal };
  } catch (error) {
    // A part of the path may not be looked into, or is no folder.
    return { kind: "nothing", hasFolder: false, refusal: (error as NodeJS.ErrnoException).code ?? null };
  }
}

function refusalAt(path: string): string | null {
  try {
    accessSync(path, constants.W_OK);
    return null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? null;
  }
}
