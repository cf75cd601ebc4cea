// Files and folders for this user alone: a store holds what customers sent, and secrets. Windows has no such modes and ignores them.
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";

const fileMode = 0o600;
const folderMode = 0o700;
/** Permissions of everybody but the owner. */
const othersBits = 0o077;

const isWindows = process.platform === "win32";

/** Made where it is missing, parents included. One that is there stays as it is: it may be somebody else's, for a reason. */
export function prepareFolder(path: string): void {
  const folder = dirname(path);
  if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: folderMode });
}

/**
 * Before SQLite opens it: an empty file for its owner alone, or one that is there with what others may do taken away. The logs SQLite makes
 * beside a file have the file's mode. Failures here are left for SQLite to complain of.
 *
 * No descriptor of the file itself is opened: closing one drops every lock this process has on the file (POSIX), an owner's too. So
 * it is made under another name and linked to its own.
 */
export function preparePrivate(path: string): void {
  if (isWindows) return;
  if (makePrivate(path) !== null) return;
  const made = `${path}.made-${randomBytes(6).toString("hex")}`;
  try {
    closeSync(openSync(made, "wx", fileMode));
    linkSync(made, path);
  } catch {
    // Another process was first, there is no such folder, or the file system knows no links.
  } finally {
    rmSync(made, { force: true });
  }
  makePrivate(path);
}

/** Whether a second name of the file is that of another process which just makes it: a moment later it has one. */
export function isBeingMade(path: string): boolean {
  for (let looks = 0; looks < 20; looks++) {
    if ((statSync(path, { throwIfNoEntry: false })?.nlink ?? 1) === 1) return true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
  return false;
}

/** Whether something had to be taken away from others; null when there is no such file. */
export function makePrivate(path: string): boolean | null {
  const mode = modeOf(path);
  if (mode === null) return null;
  if (isWindows || (mode & othersBits) === 0) return false;
  try {
    chmodSync(path, fileMode);
    return true;
  } catch {
    // Another user's file: `idem doctor` says so.
    return false;
  }
}

/** Permissions of others than the owner at a path, as `ls` says it: `rw-r--r--`; null when there are none, or nothing is there. */
export function openToOthers(path: string): string | null {
  const mode = modeOf(path);
  if (isWindows || mode === null || (mode & othersBits) === 0) return null;
  return [6, 3, 0]
    .map(
      (shift) =>
        `${mode & (4 << shift) ? "r" : "-"}${mode & (2 << shift) ? "w" : "-"}${mode & (1 << shift) ? "x" : "-"}`,
    )
    .join("");
}

function modeOf(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mode ?? null;
  } catch {
    return null;
  }
}

/** A text for people, in a file of its own; one that is there is written over. */
export function writePrivate(path: string, text: string): void {
  writeFileSync(path, text, { mode: fileMode });
  makePrivate(path);
}

/**
 * Puts a text in the place of a file's, whole or not at all: after a crash or a power cut the file has the one or the other, and which one is
 * known only once its folder is synced. Of a file that was not there, a power cut may leave an empty one.
 */
export function replacePrivate(path: string, text: string): void {
  const made = `${path}.made-${randomBytes(6).toString("hex")}`;
  try {
    const file = openSync(made, "wx", fileMode);
    try {
      writeSync(file, text);
      if (existsSync(path)) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(made, path);
  } catch (error) {
    rmSync(made, { force: true });
    throw error;
  }
}

/** A file's text; null where there is none, it cannot be read, or it has more bytes than that. */
export function readSmallFile(path: string, bytesMax: number): string | null {
  try {
    return statSync(path).size > bytesMax ? null : readFileSync(path, "utf8");
  } catch {
    return null;
  }
}

const copyBytes = 1024 * 1024;

/** A copy for this user alone, whatever the original's mode is; refused where there is a file already. */
export function copyPrivate(from: string, to: string): void {
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "wx", fileMode);
    try {
      const buffer = Buffer.allocUnsafe(copyBytes);
      for (let read = readSync(source, buffer); read > 0; read = readSync(source, buffer)) {
        for (let written = 0; written < read; ) written += writeSync(target, buffer, written, read - written);
      }
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/**
 * Once this returns, a file's content, or a folder's names, are on the disk. Windows flushes only what may be written, and opens no folder:
 * its file system keeps names in a log of its own.
 */
export function syncPath(path: string): void {
  if (isWindows && statSync(path).isDirectory()) return;
  const handle = openSync(path, isWindows ? "r+" : "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
