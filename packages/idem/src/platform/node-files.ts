// Which file a path leads to, and whether it still does.
import {
  accessSync,
  constants,
  fstatSync,
  lstatSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";

// As many as Linux follows.
const linksMax = 40;

/** The file itself, through every link on the way; also where it is yet to be made. */
export function realFile(path: string): string {
  let file = resolve(path);
  for (let links = 0; links < linksMax; links++) {
    const real = existing(file);
    if (real !== null) return real;
    const target = linkTarget(file);
    if (target === null) return join(existing(dirname(file)) ?? dirname(file), basename(file));
    file = resolve(dirname(file), target);
  }
  return resolve(path);
}

function existing(path: string): string | null {
  try {
    // The system's own: where letters large and small are one name (Windows, macOS), it gives the one that the file has.
    return realpathSync.native(path);
  } catch {
    // It does not exist yet, or may not be looked at: then the path is as good a name as any.
    return null;
  }
}

const linkTarget = (path: string): string | null =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : null;

/** The number of a file's names; none when it does not exist, or is something else. */
export function nameCount(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true ? found.nlink : 0;
}

export type FileIdentity = string;

/** The same for the same file, whatever it is called. Null: there is no such file. Undefined: it could not be looked at. */
export function fileIdentity(path: string): FileIdentity | null | undefined {
  try {
    // In whole numbers: on some file systems they do not fit into a double.
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? null : `${found.dev}:${found.ino}`;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOTDIR" ? null : undefined;
  }
}

/** The present name of a file that this process has open; null where it has none left, or the system does not say. Linux does. */
export function presentName(identity: FileIdentity): string | null {
  try {
    for (const fd of readdirSync("/proc/self/fd")) {
      const name = nameOfDescriptor(Number(fd), identity);
      if (name !== null) return name;
    }
  } catch {
    // No such folder elsewhere.
  }
  return null;
}

function nameOfDescriptor(fd: number, identity: FileIdentity): string | null {
  try {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    if (`${dev}:${ino}` !== identity) return null;
    const name = readlinkSync(`/proc/self/fd/${fd}`);
    return fileIdentity(name) === identity ? name : null;
  } catch {
    // Closed meanwhile.
    return null;
  }
}

/** Of these folders those that can be written to, and the machine's own for what is temporary. */
export const writableFolders = (folders: readonly string[]): string[] =>
  [...folders, tmpdir()].filter((folder) => {
    try {
      accessSync(folder, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  });
