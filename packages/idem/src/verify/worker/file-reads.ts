// Reads of files: those the world wrote, and else the machine's.
import fs from "node:fs";
import { join } from "node:path";
import { type Args, callbackOf, calledBack, isOfWorld, outside, overlay, pathOf, replace } from "./file-effects.ts";

export function replaceReads(): void {
  for (const name of ["readFile", "stat", "lstat", "access", "readlink", "realpath", "statfs", "opendir", "exists"]) {
    const mapped = (args: Args): Args => {
      const path = pathOf(args[0]);
      return isOfWorld(path) ? [overlay.readPath(path), ...args.slice(1)] : args;
    };
    replace(fs, `${name}Sync`, (before) => (...args) => {
      try {
        const value = before(...mapped(args));
        return name === "realpath" && typeof value === "string" ? overlay.toUser(value) : value;
      } catch (error) {
        throw overlay.mended(error);
      }
    });
    replace(fs, name, (before) => (...args) => {
      const done = callbackOf(args);
      if (done === null) return before(...args);
      const heard = (error: unknown, value: unknown) =>
        name === "exists"
          ? done(error)
          : done(
              overlay.mended(error),
              typeof value === "string" && name === "realpath" ? overlay.toUser(value) : value,
            );
      return before(...mapped(args.slice(0, -1)), heard);
    });
    replace(fs.promises, name, (before) => async (...args) => {
      try {
        const value = await before(...mapped(args));
        return name === "realpath" && typeof value === "string" ? overlay.toUser(value) : value;
      } catch (error) {
        throw overlay.mended(error);
      }
    });
  }
  const list = (args: Args): unknown => {
    const path = pathOf(args[0]);
    if (!isOfWorld(path) || !overlay.isMixed(path)) return undefined;
    const options = args[1] as { withFileTypes?: boolean; recursive?: boolean } | string | null | undefined;
    const { withFileTypes = false, recursive = false } = typeof options === "object" ? (options ?? {}) : {};
    const walk = (at: string, before: string): (string | fs.Dirent)[] =>
      overlay.list(at).flatMap((entry) => {
        const one = withFileTypes ? entry : before + entry.name;
        return recursive && entry.isDirectory()
          ? [one, ...walk(join(at, entry.name), `${before}${entry.name}/`)]
          : [one];
      });
    try {
      return walk(path, "");
    } catch (error) {
      throw overlay.mended(error);
    }
  };
  replace(
    fs,
    "readdirSync",
    (before) =>
      (...args) =>
        list(args) ?? before(...args),
  );
  replace(fs, "readdir", (before) => (...args) => {
    const done = callbackOf(args);
    const path = pathOf(args[0]);
    if (done === null || !isOfWorld(path) || !overlay.isMixed(path)) return before(...args);
    return calledBack(
      outside.read(() => list(args.slice(0, -1))),
      done,
    );
  });
  replace(
    fs.promises,
    "readdir",
    (before) =>
      async (...args) =>
        list(args) ?? before(...args),
  );
}
