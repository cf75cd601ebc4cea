// The files of the world that is played, and how a change of them is asked for: an effect, carried out in the world's own folder (overlay.ts).
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { threadId } from "node:worker_threads";
import { currentCaller, fromHere } from "./caller.ts";
import type { WatchedProcess } from "./life.ts";
import { type Notes, notesInMemory } from "./notes.ts";
import { type FileNote, Overlay, type RealFiles, type Writer } from "./overlay.ts";
import type { Effected, Outside, WorldOfWatcher } from "./watcher.ts";

// biome-ignore lint/suspicious/noExplicitAny: a function of some package's, replaced without knowing what it takes
export type Anything = (...args: any[]) => any;
export type Args = readonly unknown[];

export const real: RealFiles = { ...fs };
let count = 0;
/** A folder that does not exist yet. */
const ofThread = (): { readonly root: string; readonly home: string } => ({
  root: join(tmpdir(), `idem-verify-${process.pid}-${threadId}-${count++}`),
  home: process.cwd(),
});
const newOverlay = ({ root, home }: ReturnType<typeof ofThread>, notes: Notes<FileNote>): Overlay =>
  new Overlay(real, root, tmpdir(), home, notes);
export let overlay = newOverlay(ofThread(), notesInMemory("files"));
export let outside: Outside;
let isNobodys: (path: string) => boolean = () => false;

/** `areNobodys`: files that are looked at by nobody. */
export function openFiles(of: Outside, areNobodys: (path: string) => boolean): void {
  outside = of;
  isNobodys = areNobodys;
}

/** Another world's. The last one's files are gone, unless they are an app's: those are the command's to end. */
export function beginFiles({ filesIn, notes }: Pick<WorldOfWatcher, "filesIn" | "notes">): Overlay {
  if (filesIn === null) overlay.close();
  overlay = newOverlay(filesIn ?? ofThread(), notes("files"));
  return overlay;
}

export function pathOf(value: unknown): string | null {
  if (typeof value === "string") return resolve(value);
  if (value instanceof URL) return value.protocol === "file:" ? fileURLToPath(value) : null;
  return Buffer.isBuffer(value) ? resolve(value.toString()) : null;
}

/** Of an app only what is done in a call is watched; but files that the world wrote are found by all of its code. */
export const isOfWorld = (path: string | null): path is string =>
  path !== null && !overlay.isInside(path) && !isNobodys(path) && (outside.isWatched() || overlay.holds(path));

export const failed = (code: string, what: string, title: string): Error =>
  Object.assign(new Error(`${code}: ${what}, ${title}`), { code, syscall: title.split(" ")[0] });

function told<T>(became: Effected<T>, title: string): T {
  if (became.kind === "happened") return became.value;
  if (became.kind === "refused") throw failed("ENOSPC", "no space left on device", title);
  throw failed("EIO", "i/o error", title);
}

/** A change of a file: how people call it, and what it does. */
export interface Change {
  readonly title: string;
  readonly carry: (by: Writer) => unknown;
}

let carrying = 0;

/** On the machine's own files: what Node's functions call of each other is not the user's. */
export function carryOut<T>(run: () => T): T {
  carrying++;
  try {
    return run();
  } catch (error) {
    throw overlay.mended(error);
  } finally {
    carrying--;
  }
}

const carried = ({ carry }: Change, by: Writer): { value: unknown; isRepeat: false } => ({
  value: carryOut(() => carry(by)),
  isRepeat: false,
});

const about = (title: string) => ({ watcher: "files", title, key: null });

/** While modules are loaded nothing is an effect; what is written then is kept, and said. */
function isLoading(title: string): boolean {
  if (currentCaller<WatchedProcess>()?.life.isLoading !== true) return false;
  outside.unproven(`${title} was asked for while the module was being loaded`);
  return true;
}

export const nobody: Writer = { fn: null, effect: 0 };

export function changeNow(change: Change): unknown {
  if (isLoading(change.title)) return carried(change, nobody).value;
  return fromHere(() =>
    told(
      outside.effectNow(about(change.title), (by) => carried(change, by)),
      change.title,
    ),
  );
}

export function changeSoon(change: Change): Promise<unknown> {
  return fromHere(async () => {
    if (isLoading(change.title)) return carried(change, nobody).value;
    return told(await outside.effect(about(change.title), (by) => carried(change, by)), change.title);
  });
}

export function quietNow(carry: (args: Args, path: string) => unknown, args: Args, path: string): unknown {
  if (currentCaller<WatchedProcess>()?.life.isDead === true) throw failed("EIO", "i/o error", path);
  return carryOut(() => carry(args, path));
}

/** In place of a function, with what hangs on it (`promisify`, `native`). */
export function replace(module: object, name: string, make: (before: Anything) => Anything): void {
  const before = Reflect.get(module, name) as Anything | undefined;
  if (typeof before !== "function") return;
  const watched = make(before);
  const made: Anything = (...args) => (carrying > 0 ? before(...args) : watched(...args));
  for (const key of Reflect.ownKeys(before)) {
    if (key === "length" || key === "prototype") continue;
    Object.defineProperty(made, key, Object.getOwnPropertyDescriptor(before, key)!);
  }
  Object.defineProperty(module, name, { configurable: true, writable: true, enumerable: true, value: made });
}

export const callbackOf = (args: Args): Anything | null => {
  const last = args.at(-1);
  return typeof last === "function" ? (last as Anything) : null;
};

export function calledBack(promise: Promise<unknown>, done: Anything): void {
  promise.then(
    (value) => process.nextTick(done, null, value),
    (error: unknown) => process.nextTick(done, error),
  );
}

/** Data that comes piece by piece, whole. */
export async function wholeData(data: unknown): Promise<unknown> {
  if (typeof data !== "object" || data === null || ArrayBuffer.isView(data)) return data;
  const pieces: Buffer[] = [];
  for await (const piece of data as AsyncIterable<string | Uint8Array>) pieces.push(Buffer.from(piece as string));
  return Buffer.concat(pieces);
}
