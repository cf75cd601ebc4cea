// Files that a call's code would change: refused, and UNPROVEN by name. A world's own folder would have to outlive the process that writes to it.
import fs from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { WayOutShut } from "../worker/deny-ways-out.ts";
import type { Anything } from "../worker/file-effects.ts";
import type { Outside } from "../worker/watcher.ts";

const changing = [
  "writeFile",
  "appendFile",
  "rm",
  "unlink",
  "rmdir",
  "rename",
  "copyFile",
  "cp",
  "mkdir",
  "mkdtemp",
  "symlink",
  "link",
  "truncate",
];
const streams = ["createWriteStream", "WriteStream"];
/** Frameworks keep what they built in there. */
const caches =
  /[\\/](node_modules|\.next|\.nuxt|\.output|\.svelte-kit|\.vite|\.cache|\.turbo|\.parcel-cache|\.angular)([\\/]|$)/;

export function denyFileChanges(outside: Outside): void {
  const check = (name: string, given: unknown): void => {
    const path = pathOf(given);
    if (path === null || caches.test(path) || !outside.isWatched()) return;
    const what = `a file was to be changed, which is not watched in an app: ${name} ${path}`;
    outside.unproven(what);
    throw new WayOutShut(what);
  };
  const shut = (
    holder: object,
    name: string,
    isAsync: boolean,
    writes: (args: readonly unknown[]) => boolean,
  ): void => {
    const before = Reflect.get(holder, name) as Anything | undefined;
    if (typeof before !== "function") return;
    const watched = function (this: unknown, ...args: unknown[]): unknown {
      const go = (): unknown => {
        if (writes(args)) check(name, args[0]);
        if (new.target !== undefined) return Reflect.construct(before, args);
        return before.apply(this, args);
      };
      return isAsync ? (async () => go())() : go();
    };
    watched.prototype = before.prototype;
    Object.defineProperty(holder, name, { configurable: true, writable: true, value: watched });
  };
  const always = (): boolean => true;
  const opensToWrite = ([, flags = "r"]: readonly unknown[]): boolean =>
    typeof flags === "number"
      ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) !== 0
      : /[wa+]/.test(String(flags));
  for (const name of changing) {
    shut(fs, name, false, always);
    shut(fs, `${name}Sync`, false, always);
    shut(fs.promises, name, true, always);
  }
  for (const name of streams) shut(fs, name, false, always);
  for (const name of ["open", "openSync"]) shut(fs, name, false, opensToWrite);
  shut(fs.promises, "open", true, opensToWrite);
}

/** Null for what is no path: a number that is open already. */
function pathOf(value: unknown): string | null {
  if (typeof value === "string") return resolve(value);
  if (value instanceof URL) return value.protocol === "file:" ? fileURLToPath(value) : null;
  return Buffer.isBuffer(value) ? resolve(value.toString()) : null;
}
