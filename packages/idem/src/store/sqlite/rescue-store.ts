// A copy of a store whose file has lost its name, made through the handle that is still open: beside where it was if that can be written
// to, else beside where it is now, else in the machine's folder for what is temporary.
import { basename, dirname, join } from "node:path";
import type { SqliteCore } from "./core.ts";

export interface Rescue {
  /** The path that is tried first. */
  readonly first: string;
  /** The path of the copy; null when there is none, and why not. */
  readonly done: Promise<{ readonly copy: string | null; readonly why: string }>;
}

export function rescueStore(options: {
  readonly core: Pick<SqliteCore, "path" | "copyTo">;
  /** The file's present name, where that is known. */
  readonly now: string | null;
  readonly at: number;
  readonly foldersOf: (folders: readonly string[]) => string[];
}): Rescue {
  const { core, now, at, foldersOf } = options;
  const name = `${basename(core.path)}.rescued-${new Date(at).toISOString().replaceAll(/[:.]/g, "-")}`;
  const folders = foldersOf([dirname(core.path), ...(now === null ? [] : [dirname(now)])]);
  const places = [...new Set(folders)].map((folder) => join(folder, name));
  const copy = async () => {
    let why = "no folder can be written to";
    for (const place of places) {
      try {
        await core.copyTo(place);
        return { copy: place, why };
      } catch (error) {
        why = (error as Error).message;
      }
    }
    return { copy: null, why };
  };
  return { first: places[0] ?? "nowhere", done: copy() };
}
