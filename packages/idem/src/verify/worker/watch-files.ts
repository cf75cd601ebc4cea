// Files: `node:fs` in all its forms, over a folder of the world's own (overlay.ts). Reads see what the world wrote and else the machine's; every change of
// a file's content is an effect, carried out there.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import { currentCaller, fromHere } from "./caller.ts";
import { Overlay, type RealFiles, type Writer } from "./overlay.ts";
import type { Effected, Outside, Watcher } from "./watcher.ts";

type Anything = (...args: any[]) => any;
type Args = readonly unknown[];

const real: RealFiles = { ...fs };
const folderOf = (pid: number): string => `idem-verify-${pid}-`;
let count = 0;
let overlay = new Overlay(real, join(tmpdir(), `${folderOf(process.pid)}${threadId}-0`), tmpdir(), process.cwd());
let outside: Outside;

/** Opened for writing: the user's path, and whether something was written through it. */
const opened = new Map<number, { readonly path: string; readonly isHandle: boolean; by: Writer | null }>();

function pathOf(value: unknown): string | null {
  if (typeof value === "string") return resolve(value);
  if (value instanceof URL) return value.protocol === "file:" ? fileURLToPath(value) : null;
  return Buffer.isBuffer(value) ? resolve(value.toString()) : null;
}

const isOfWorld = (path: string | null): path is string =>
  path !== null && outside.isWatched() && !overlay.isInside(path);

const opensForWriting = (flags: unknown): boolean =>
  typeof flags === "number"
    ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND)) !== 0
    : typeof flags === "string" && /[wa+]/.test(flags);

const failed = (code: string, what: string, title: string): Error =>
  Object.assign(new Error(`${code}: ${what}, ${title}`), { code, syscall: title.split(" ")[0] });

function told<T>(became: Effected<T>, title: string): T {
  if (became.kind === "happened") return became.value;
  if (became.kind === "refused") throw failed("ENOSPC", "no space left on device", title);
  throw failed("EIO", "i/o error", title);
}

/** A change of a file: how people call it, and what it does. */
interface Change {
  readonly title: string;
  readonly carry: (by: Writer) => unknown;
}

function carried({ carry }: Change, by: Writer): { value: unknown; isRepeat: false } {
  try {
    return { value: carry(by), isRepeat: false };
  } catch (error) {
    throw overlay.mended(error);
  }
}

const about = (title: string) => ({ watcher: "files", title, key: null });

/** While modules are loaded nothing is an effect; what is written then is kept, and said. */
function isLoading(title: string): boolean {
  if (currentCaller()?.life.isLoading !== true) return false;
  outside.unproven(`${title} was asked for while the module was being loaded`);
  return true;
}

const nobody: Writer = { fn: null, effect: 0 };

function changeNow(change: Change): unknown {
  if (isLoading(change.title)) return carried(change, nobody).value;
  return fromHere(() =>
    told(
      outside.effectNow(about(change.title), (by) => carried(change, by)),
      change.title,
    ),
  );
}

function changeSoon(change: Change): Promise<unknown> {
  return fromHere(async () => {
    if (isLoading(change.title)) return carried(change, nobody).value;
    return told(await outside.effect(about(change.title), (by) => carried(change, by)), change.title);
  });
}

// ---------------------------------------------------------------------------------------------------- what is changed

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

// ---------------------------------------------------------------------------------------------------- how it is called

/** In place of a function, with what hangs on it (`promisify`, `native`). */
function replace(module: object, name: string, make: (before: Anything) => Anything): void {
  const before = Reflect.get(module, name) as Anything | undefined;
  if (typeof before !== "function") return;
  const made = make(before);
  for (const key of Reflect.ownKeys(before)) {
    if (key === "length" || key === "prototype") continue;
    Object.defineProperty(made, key, Object.getOwnPropertyDescriptor(before, key)!);
  }
  Object.defineProperty(module, name, { configurable: true, writable: true, enumerable: true, value: made });
}

const callbackOf = (args: Args): Anything | null => {
  const last = args.at(-1);
  return typeof last === "function" ? (last as Anything) : null;
};

function calledBack(promise: Promise<unknown>, done: Anything): void {
  promise.then(
    (value) => process.nextTick(done, null, value),
    (error: unknown) => process.nextTick(done, error),
  );
}

/** Data that comes piece by piece, whole. */
async function wholeData(data: unknown): Promise<unknown> {
  if (typeof data !== "object" || data === null || ArrayBuffer.isView(data)) return data;
  const pieces: Buffer[] = [];
  for await (const piece of data as AsyncIterable<string | Uint8Array>) pieces.push(Buffer.from(piece as string));
  return Buffer.concat(pieces);
}

function quietNow(carry: (args: Args, path: string) => unknown, args: Args, path: string): unknown {
  if (currentCaller()?.life.isDead === true) throw failed("EIO", "i/o error", path);
  try {
    return carry(args, path);
  } catch (error) {
    throw overlay.mended(error);
  }
}

/** A file that is open already: by number, or by handle. */
const numberOf = (value: unknown): number | null => {
  if (typeof value === "number") return value;
  const fd = (value as { fd?: unknown } | null)?.fd;
  return typeof fd === "number" ? fd : null;
};

function replaceChanges(): void {
  for (const [name, make] of Object.entries(changes)) {
    const ofOpen = (args: Args): Change | null => {
      const fd = numberOf(args[0]);
      if (fd === null || !opened.has(fd)) return null;
      const run = () => (Reflect.get(real, `${name}Sync`) as Anything)(fd, ...args.slice(1));
      return writeTo(fd, run);
    };
    const changeOf = (args: Args): Change | null => {
      const path = pathOf(args[0]);
      return isOfWorld(path) ? make(args, path) : ofOpen(args);
    };
    replace(fs, `${name}Sync`, (before) => (...args) => {
      const change = changeOf(args);
      return change === null ? before(...args) : changeNow(change);
    });
    replace(fs, name, (before) => (...args) => {
      const done = callbackOf(args);
      const change = done === null ? null : changeOf(args.slice(0, -1));
      return change === null ? before(...args) : calledBack(changeSoon(change), done!);
    });
    replace(fs.promises, name, (before) => (...args) => {
      const isFile = isOfWorld(pathOf(args[0])) || opened.has(numberOf(args[0]) ?? -1);
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

function replaceReads(): void {
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

// ---------------------------------------------------------------------------------------------------- open files

/** What is written through one open file is one effect: the first piece is met by what goes wrong, the others follow it. */
function writeTo(fd: number, run: () => unknown): Change {
  const file = opened.get(fd)!;
  return {
    title: `write ${overlay.nameOf(file.path)}`,
    carry: (by) => {
      file.by = by;
      const value = run();
      overlay.wrote(file.path, by);
      return value;
    },
  };
}

function replaceOpen(): void {
  const openNow = (args: Args, path: string): number =>
    quietNow(
      () => {
        const isNew = !overlay.exists(path);
        const fd = real.openSync(overlay.writePath(path), ...(args.slice(1) as [string, number]));
        opened.set(fd, { path, isHandle: false, by: null });
        if (isNew || /w/.test(String(args[1]))) overlay.wrote(path, nobody);
        return fd;
      },
      args,
      path,
    ) as number;
  const mapped = (args: Args): Args => {
    const path = pathOf(args[0]);
    return isOfWorld(path) ? [overlay.readPath(path), ...args.slice(1)] : args;
  };
  const written = (args: Args): string | null => {
    const path = pathOf(args[0]);
    return isOfWorld(path) && opensForWriting(args[1]) ? path : null;
  };
  replace(fs, "openSync", (before) => (...args) => {
    const path = written(args);
    return path === null ? before(...mapped(args)) : openNow(args, path);
  });
  replace(fs, "open", (before) => (...args) => {
    const done = callbackOf(args);
    const path = written(args);
    if (done === null || path === null) return before(...mapped(args));
    return calledBack(
      outside.read(() => openNow(args.slice(0, -1), path)),
      done,
    );
  });
  replace(fs.promises, "open", (before) => async (...args) => {
    const path = written(args);
    if (path === null) return before(...mapped(args));
    const handle = await outside.read(() => quietNow(() => overlay.writePath(path), args, path) as string);
    const made = (await before(handle, ...args.slice(1))) as fs.promises.FileHandle;
    opened.set(made.fd, { path, isHandle: true, by: null });
    overlay.wrote(path, nobody);
    return watchedHandle(made);
  });
  replace(fs, "close", (before) => (fd, ...rest) => {
    opened.delete(fd);
    return before(fd, ...rest);
  });
  replace(fs, "closeSync", (before) => (fd) => {
    opened.delete(fd);
    return before(fd);
  });
  for (const name of ["write", "writev", "ftruncate"]) {
    const realNow = Reflect.get(real, `${name}Sync`) as Anything;
    replace(fs, `${name}Sync`, (before) => (...args) => {
      const file = opened.get(args[0]);
      if (file === undefined) return before(...args);
      if (file.by === null) return changeNow(writeTo(args[0], () => realNow(...args)));
      return quietNow(() => realNow(...args), args, file.path);
    });
    replace(fs, name, (before) => (...args) => {
      const file = opened.get(args[0]);
      const done = callbackOf(args);
      if (file === undefined || done === null) return before(...args);
      const own = args.slice(0, -1);
      const run = () => realNow(...own);
      const made =
        file.by === null ? changeSoon(writeTo(args[0], run)) : outside.read(() => quietNow(run, own, file.path));
      return calledBack(made, (error: unknown, value: unknown) => done(error, value, args[1]));
    });
  }
  replace(
    fs,
    "createWriteStream",
    (before) =>
      (...args) =>
        fromHere(() => before(...args)),
  );
}

/** A handle of `fs.promises`, whose writes are watched. */
function watchedHandle(handle: fs.promises.FileHandle): fs.promises.FileHandle {
  const { fd } = handle;
  const through = async (run: () => unknown): Promise<unknown> => {
    const file = opened.get(fd);
    if (file === undefined || file.by === null) return changeSoon(writeTo(fd, run));
    return outside.read(() => quietNow(run, [], file.path));
  };
  const watched: Record<string, Anything> = {
    write: async (data, ...rest) => {
      const own =
        typeof rest[0] === "object" && rest[0] !== null ? [rest[0].offset, rest[0].length, rest[0].position] : rest;
      return { bytesWritten: await through(() => real.writeSync(fd, data, ...own)), buffer: data };
    },
    writev: async (buffers, position) => ({
      bytesWritten: await through(() => real.writevSync(fd, buffers, position)),
      buffers,
    }),
    writeFile: async (data, options) => {
      const whole = await wholeData(data);
      await through(() => real.writeFileSync(fd, whole as string, options));
    },
    appendFile: async (data, options) => watched.writeFile!(data, options),
    truncate: async (length = 0) => void (await through(() => real.ftruncateSync(fd, length))),
    close: async () => {
      opened.delete(fd);
      await handle.close();
    },
    [Symbol.asyncDispose as unknown as string]: async () => watched.close!(),
    createWriteStream: (options) => {
      const stream = fs.createWriteStream("", { ...options, fd, autoClose: false });
      if (options?.autoClose !== false) stream.once("finish", () => void watched.close!());
      return stream;
    },
  };
  return new Proxy(handle, {
    get: (target, name) => {
      const own = watched[name as string];
      if (own !== undefined) return own;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** What processes that died had open. A handle is closed when it is forgotten. */
function closeLeft(): void {
  for (const [fd, { isHandle }] of opened) if (!isHandle) real.closeSync(fd);
  opened.clear();
}

/** What commands that were killed left behind. */
function sweep(): void {
  for (const name of real.readdirSync(tmpdir())) {
    const pid = Number(/^idem-verify-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid)) continue;
    try {
      process.kill(pid, 0);
    } catch (error) {
      if ((error as { code?: unknown }).code !== "ESRCH") continue;
      real.rmSync(join(tmpdir(), name), { recursive: true, force: true });
    }
  }
}

export const watchFiles: Watcher = {
  name: "files",
  open(of) {
    outside = of;
    sweep();
    replaceChanges();
    replaceReads();
    replaceOpen();
    syncBuiltinESMExports();
  },
  begin() {
    overlay.close();
    closeLeft();
    const root = join(tmpdir(), `${folderOf(process.pid)}${threadId}-${++count}`);
    const mine = new Overlay(real, root, tmpdir(), process.cwd());
    overlay = mine;
    return {
      things: () => {
        const things = mine.things();
        mine.close();
        return things;
      },
      madeIds: [],
    };
  },
};
