// Files that are open: by number, by handle, as a stream. All writes through one of them are one effect.
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
  nobody,
  outside,
  overlay,
  pathOf,
  quietNow,
  real,
  replace,
  wholeData,
} from "./file-effects.ts";
import type { Writer } from "./overlay.ts";

/** Opened for writing: the user's path, and whether something was written through it. */
const opened = new Map<number, { readonly path: string; readonly isHandle: boolean; by: Writer | null }>();

const opensForWriting = (flags: unknown): boolean =>
  typeof flags === "number"
    ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND)) !== 0
    : typeof flags === "string" && /[wa+]/.test(flags);

/** A file that is open already: by number, or by handle. */
const numberOf = (value: unknown): number | null => {
  if (typeof value === "number") return value;
  const fd = (value as { fd?: unknown } | null)?.fd;
  return typeof fd === "number" ? fd : null;
};

export const isOpenFile = (value: unknown): boolean => opened.has(numberOf(value) ?? -1);

/** The change that `name` makes to an open file; null where none is open. */
export function changeOfOpen(name: string, args: Args): Change | null {
  const fd = numberOf(args[0]);
  if (fd === null || !opened.has(fd)) return null;
  return writeTo(fd, () => (Reflect.get(real, `${name}Sync`) as Anything)(fd, ...args.slice(1)));
}

/** Of an app: what it opened for writing before its first call, as logs are. Nobody can say what is in them twice. */
const before = new Map<number, string>();

function noteBefore(fd: number, path: string | null): void {
  if (outside.assume !== undefined && path !== null && !outside.isWatched()) before.set(fd, path);
}

/** A number that nobody opened here for writing. */
export function isStray(value: unknown): value is number {
  if (typeof value !== "number" || !outside.isWatched() || opened.has(value)) return false;
  if (outside.assume === undefined) return true;
  const path = before.get(value);
  if (path !== undefined)
    outside.assume(`what is written to ${overlay.nameOf(path)} is not compared: it was open before the first call`);
  return false;
}

const printed: Readonly<Record<number, "stdout" | "stderr">> = { 1: "stdout", 2: "stderr" };

/** Loggers print by number, past the streams; all else would be a file of the machine's. */
export function writeStray(fd: number, bytes: Uint8Array): number {
  const stream = printed[fd];
  if (stream === undefined) {
    const what = `the open file ${fd} was written to, which is not watched`;
    outside.unproven(what);
    throw failed("EBADF", "bad file descriptor", "write");
  }
  process[stream].write(bytes);
  return bytes.length;
}

/** `options`: an encoding, or what has one. */
export function bytesOf(data: unknown, options: unknown): Buffer {
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const named = typeof options === "object" ? (options as { encoding?: unknown } | null)?.encoding : options;
  const encoding = typeof named === "string" && Buffer.isEncoding(named) ? named : "utf8";
  return Buffer.from(String(data), encoding);
}

/** Of the arguments of `write`, `writev` and `ftruncate`. */
function bytesIn(name: string, [, data, at, length]: Args): Buffer {
  if (name === "ftruncate") return Buffer.alloc(0);
  if (Array.isArray(data)) return Buffer.concat(data as Uint8Array[]);
  if (typeof data === "string") return bytesOf(data, length);
  const whole = bytesOf(data, null);
  const from = typeof at === "number" ? at : ((at as { offset?: number } | null | undefined)?.offset ?? 0);
  return whole.subarray(from, typeof length === "number" ? from + length : undefined);
}

/** All writes through one open file are one effect: the first piece is met by what goes wrong, the others follow it. */
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

export function replaceOpen(): void {
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
  const noted = (fd: unknown, args: Args): void => {
    if (typeof fd === "number" && opensForWriting(args[1])) noteBefore(fd, pathOf(args[0]));
  };
  replace(fs, "openSync", (really) => (...args) => {
    const path = written(args);
    if (path !== null) return openNow(args, path);
    const fd: unknown = really(...mapped(args));
    noted(fd, args);
    return fd;
  });
  replace(fs, "open", (really) => (...args) => {
    const done = callbackOf(args);
    const path = written(args);
    if (done === null) return really(...args);
    if (path === null) {
      const heard: Anything = (error, fd) => {
        noted(fd, args);
        done(error, fd);
      };
      return really(...mapped(args.slice(0, -1)), heard);
    }
    return calledBack(
      outside.read(() => openNow(args.slice(0, -1), path)),
      done,
    );
  });
  replace(fs.promises, "open", (really) => async (...args) => {
    const path = written(args);
    if (path === null) return really(...mapped(args));
    const handle = await outside.read(() => quietNow(() => overlay.writePath(path), args, path) as string);
    const made = (await really(handle, ...args.slice(1))) as fs.promises.FileHandle;
    opened.set(made.fd, { path, isHandle: true, by: null });
    overlay.wrote(path, nobody);
    return watchedHandle(made);
  });
  replace(fs, "close", (really) => (fd, ...rest) => {
    opened.delete(fd);
    before.delete(fd);
    return really(fd, ...rest);
  });
  replace(fs, "closeSync", (really) => (fd) => {
    opened.delete(fd);
    before.delete(fd);
    return really(fd);
  });
  for (const name of ["write", "writev", "ftruncate"]) {
    const realNow = Reflect.get(real, `${name}Sync`) as Anything;
    replace(fs, `${name}Sync`, (really) => (...args) => {
      if (isStray(args[0])) return writeStray(args[0], bytesIn(name, args));
      const file = opened.get(args[0]);
      if (file === undefined) return really(...args);
      if (file.by === null) return changeNow(writeTo(args[0], () => realNow(...args)));
      return quietNow(() => realNow(...args), args, file.path);
    });
    replace(fs, name, (really) => (...args) => {
      const [fd] = args;
      const file = opened.get(fd);
      const done = callbackOf(args);
      if (done !== null && isStray(fd)) {
        const made = outside.read(() => writeStray(fd, bytesIn(name, args.slice(0, -1))));
        return calledBack(made, (error: unknown, value: unknown) => done(error, value, args[1]));
      }
      if (file === undefined || done === null) return really(...args);
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
    (really) =>
      (...args) =>
        fromHere(() => really(...args)),
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

/** Closes what processes that died had open. A handle is closed when it is forgotten. */
export function closeLeft(): void {
  for (const [fd, { isHandle }] of opened) if (!isHandle) real.closeSync(fd);
  opened.clear();
}
