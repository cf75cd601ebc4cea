// Changes of files by their path: `node:fs` in its three forms (now, with a callback, with a promise).
import fs from "node:fs";
import { fromHere } from "./caller.ts";
import {
  type Anything,
  type Args,
  type Change,
  callbackOf,
  calledBack,
  changeNow,
  changeSoon,
  failed,
  isOfWorld,
  outside,
  overlay,
  pathOf,
  quietNow,
  real,
  replace,
  wholeData,
} from "./file-effects.ts";
import { bytesOf, changeOfOpen, isOpenFile, isStray, writeStray } from "./open-files.ts";

type Make = (args: Args, path: string) => Change;

const writing =
  (name: "writeFile" | "appendFile"): Make =>
  ([, data, options], path) => {
    const flag = (options as { flag?: unknown } | null | undefined)?.flag;
    const isAppend = name === "appendFile" || (typeof flag === "string" && flag.startsWith("a"));
    return {
      title: `${isAppend ? "append to" : "write"} ${overlay.nameOf(path)}`,
      carry: (by) => {
        (real[`${name}Sync`] as Anything)(overlay.writePath(path), data, options);
        overlay.wrote(path, by);
      },
    };
  };

const removing =
  (name: "rm" | "unlink" | "rmdir"): Make =>
  ([, options], path) => ({
    title: `delete ${overlay.nameOf(path)}`,
    carry: (by) => {
      const there = overlay.exists(path);
      if (there && name === "rmdir" && overlay.list(path).length > 0) {
        throw failed("ENOTEMPTY", "directory not empty", `rmdir '${path}'`);
      }
      const at = there ? overlay.writePath(path) : overlay.readPath(path);
      (real[`${name}Sync`] as Anything)(at, options);
      if (there) overlay.removed(path, by);
    },
  });

const second = (args: Args): string => pathOf(args[1]) ?? String(args[1]);

const changes: Readonly<Record<string, Make>> = {
  writeFile: writing("writeFile"),
  appendFile: writing("appendFile"),
  rm: removing("rm"),
  unlink: removing("unlink"),
  rmdir: removing("rmdir"),
  rename: (args, path) => ({
    title: `rename ${overlay.nameOf(path)} to ${overlay.nameOf(second(args))}`,
    carry: (by) => {
      const from = overlay.exists(path) ? overlay.writePath(path) : overlay.readPath(path);
      real.renameSync(from, overlay.writePath(second(args)));
      overlay.removed(path, by);
      overlay.wrote(second(args), by);
    },
  }),
  ...Object.fromEntries(
    (["copyFile", "cp"] as const).map((name): [string, Make] => [
      name,
      (args, path) => ({
        title: `copy ${overlay.nameOf(path)} to ${overlay.nameOf(second(args))}`,
        carry: (by) => {
          const to = overlay.writePath(second(args));
          (real[`${name}Sync`] as Anything)(overlay.readPath(path), to, args[2]);
          overlay.wrote(second(args), by);
        },
      }),
    ]),
  ),
  truncate: ([, length], path) => ({
    title: `truncate ${overlay.nameOf(path)}`,
    carry: (by) => {
      real.truncateSync(overlay.writePath(path), length as number | undefined);
      overlay.wrote(path, by);
    },
  }),
  link: (args, path) => ({
    title: `link ${overlay.nameOf(second(args))}`,
    carry: (by) => {
      const from = overlay.writePath(path);
      real.linkSync(from, overlay.writePath(second(args)));
      overlay.wrote(second(args), by);
    },
  }),
};

/** Changes that leave no content: made at once, and no effect. */
const quiet: Readonly<Record<string, (args: Args, path: string) => unknown>> = {
  mkdir: ([, options], path) => {
    if ((options as { recursive?: unknown } | null | undefined)?.recursive === true) {
      const isNew = !overlay.exists(path);
      overlay.makeFolders(path);
      return isNew ? path : undefined;
    }
    if (overlay.exists(path)) throw failed("EEXIST", "file already exists", `mkdir '${path}'`);
    real.mkdirSync(overlay.writePath(path), options as number);
    return undefined;
  },
  mkdtemp: ([, options], path) => {
    const made = overlay.toUser(real.mkdtempSync(overlay.writePath(path), options as "utf8"));
    overlay.isScratchFolder(made);
    return made;
  },
  ...Object.fromEntries(
    ["chmod", "chown", "lchown", "utimes", "lutimes"].map((name) => [
      name,
      (args: Args, path: string) =>
        (Reflect.get(real, `${name}Sync`) as Anything)(overlay.writePath(path), ...args.slice(1)),
    ]),
  ),
};

export function replaceChanges(): void {
  for (const [name, make] of Object.entries(changes)) {
    const changeOf = (args: Args): Change | null => {
      const path = pathOf(args[0]);
      return isOfWorld(path) ? make(args, path) : changeOfOpen(name, args);
    };
    replace(fs, `${name}Sync`, (before) => (...args) => {
      if (isStray(args[0])) return void writeStray(args[0], bytesOf(args[1], args[2]));
      const change = changeOf(args);
      return change === null ? before(...args) : changeNow(change);
    });
    replace(fs, name, (before) => (...args) => {
      const done = callbackOf(args);
      const [stray] = args;
      if (isStray(stray) && done !== null) {
        return calledBack(
          outside.read(() => void writeStray(stray, bytesOf(args[1], args[2]))),
          done,
        );
      }
      const change = done === null ? null : changeOf(args.slice(0, -1));
      return change === null ? before(...args) : calledBack(changeSoon(change), done!);
    });
    replace(fs.promises, name, (before) => (...args) => {
      const isFile = isOfWorld(pathOf(args[0])) || isOpenFile(args[0]);
      if (!isFile) return before(...args);
      return fromHere(async () => {
        const rest = name.endsWith("File") && name !== "copyFile" ? [await wholeData(args[1])] : args.slice(1, 2);
        return changeSoon(changeOf([args[0], ...rest, ...args.slice(2)])!);
      });
    });
  }
  for (const [name, carry] of Object.entries(quiet)) {
    replace(fs, `${name}Sync`, (before) => (...args) => {
      const path = pathOf(args[0]);
      return isOfWorld(path) ? quietNow(carry, args, path) : before(...args);
    });
    replace(fs, name, (before) => (...args) => {
      const path = pathOf(args[0]);
      const done = callbackOf(args);
      if (!isOfWorld(path) || done === null) return before(...args);
      return calledBack(
        outside.read(() => quietNow(carry, args.slice(0, -1), path)),
        done,
      );
    });
    replace(fs.promises, name, (before) => (...args) => {
      const path = pathOf(args[0]);
      return isOfWorld(path) ? outside.read(() => quietNow(carry, args, path)) : before(...args);
    });
  }
  for (const module of [fs, fs.promises]) {
    for (const name of ["symlink", "symlinkSync"]) {
      replace(module, name, (before) => (...args) => {
        const path = pathOf(args[1]);
        if (!isOfWorld(path)) return before(...args);
        const what = `a symbolic link was made, which is not watched: ${overlay.nameOf(path)}`;
        outside.unproven(what);
        throw failed("EACCES", what, "symlink");
      });
    }
  }
}
