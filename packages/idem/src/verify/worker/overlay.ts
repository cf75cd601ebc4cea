// The files of one world: those of the machine, and over them a folder of its own that takes everything the world writes. Nothing of the user's is changed;
// what the folder holds at the end, compared with what stood there before, is what the world left.
import { createHash } from "node:crypto";
import type fs from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import type { Json, Thing } from "../thing.ts";
import type { Notes } from "./notes.ts";

/** The machine's own functions, as they were before they were replaced. */
export type RealFiles = typeof fs;

/** The last writer of a file. */
export interface Writer {
  readonly fn: string | null;
  readonly effect: number;
}

/** Facts that the folder itself does not show. */
export type FileNote =
  | { readonly kind: "wrote" | "removed"; readonly path: string; readonly by: Writer }
  | { readonly kind: "scratch"; readonly path: string };

/** Larger ones are compared by their hash. */
const textBytesMax = 256 * 1024;

// By convention unfinished, or somebody's scratch: left behind by a death they are litter, and nobody counts them.
const unfinished = /\.(tmp|temp|partial|part|lock)(\.|-|$)|~$/i;
const drawn = /[0-9a-f]{8}|\d{6}|[A-Za-z0-9_-]{20}/i;

export class Overlay {
  private isThere: boolean;
  private readonly gone = new Set<string>();
  private readonly written = new Map<string, Writer>();
  private readonly scratch: string[] = [];

  constructor(
    private readonly real: RealFiles,
    /** The folder it is made in, once something is written. */
    readonly root: string,
    private readonly temporary: string,
    private readonly home: string,
    private readonly notes: Notes<FileNote>,
  ) {
    this.isThere = real.existsSync(root);
    for (const note of notes.all()) this.apply(note);
  }

  private note(note: FileNote): void {
    this.apply(note);
    this.notes.add(note);
  }

  private apply(note: FileNote): void {
    const { path } = note;
    if (note.kind === "scratch") this.scratch.push(path + sep);
    else if (note.kind === "wrote") this.written.set(path, note.by);
    else {
      this.gone.add(path);
      for (const each of this.written.keys())
        if (each === path || each.startsWith(path + sep)) this.written.set(each, note.by);
      if (!this.written.has(path)) this.written.set(path, note.by);
    }
  }

  /** Whether the world has something else there than the machine. */
  holds(path: string): boolean {
    return this.isThere && (this.isGone(path) || this.hasOver(path));
  }

  isInside(path: string): boolean {
    return path === this.root || path.startsWith(this.root + sep);
  }

  /** Its place in the folder. */
  private over(path: string): string {
    return join(this.root, path);
  }

  private hasOver(path: string): boolean {
    return this.isThere && this.has(this.over(path));
  }

  private has(path: string): boolean {
    return this.real.lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  }

  private isGone(path: string): boolean {
    if (this.gone.size === 0) return false;
    for (let at = path; ; at = dirname(at)) {
      if (this.gone.has(at)) return true;
      if (at === dirname(at)) return false;
    }
  }

  /** The path to read it at. */
  readPath(path: string): string {
    return this.holds(path) ? this.over(path) : path;
  }

  exists(path: string): boolean {
    return this.has(this.readPath(path));
  }

  isFolder(path: string): boolean {
    return this.real.statSync(this.readPath(path), { throwIfNoEntry: false })?.isDirectory() ?? false;
  }

  /** Whether a folder has entries of both. */
  isMixed(path: string): boolean {
    return this.isThere && (this.hasOver(path) || [...this.gone].some((each) => dirname(each) === path));
  }

  list(path: string): fs.Dirent[] {
    const there = this.hasOver(path) ? this.real.readdirSync(this.over(path), { withFileTypes: true }) : [];
    const names = new Set(there.map(({ name }) => name));
    const isReal = !this.isGone(path) && this.real.existsSync(path);
    if (!isReal && !this.hasOver(path)) return this.real.readdirSync(this.over(path), { withFileTypes: true });
    const below = isReal ? this.real.readdirSync(path, { withFileTypes: true }) : [];
    const kept = below.filter(({ name }) => !names.has(name) && !this.gone.has(join(path, name)));
    return [...kept, ...there].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The path to write it at: its folder is there if it is one for the user, and so is what it holds now. */
  writePath(path: string): string {
    this.isThere = true;
    const folder = dirname(path);
    if (this.isFolder(folder)) this.real.mkdirSync(this.over(folder), { recursive: true });
    else this.real.mkdirSync(this.root, { recursive: true });
    if (!this.hasOver(path) && !this.isGone(path) && this.has(path)) {
      this.real.cpSync(path, this.over(path), { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    }
    return this.over(path);
  }

  /** Makes the folders on the way to it, as `recursive` does. */
  makeFolders(path: string): void {
    this.isThere = true;
    this.real.mkdirSync(this.over(path), { recursive: true });
  }

  wrote(path: string, by: Writer): void {
    const at = this.over(path);
    if (this.real.statSync(at, { throwIfNoEntry: false })?.isDirectory()) {
      for (const name of this.real.readdirSync(at)) this.wrote(join(path, name), by);
      return;
    }
    this.note({ kind: "wrote", path, by });
  }

  removed(path: string, by: Writer): void {
    this.note({ kind: "removed", path, by });
  }

  isScratchFolder(path: string): void {
    this.note({ kind: "scratch", path });
  }

  /** As people call it: from where the command was started. */
  nameOf(path: string): string {
    const near = relative(this.home, path);
    return near.startsWith("..") ? path : near;
  }

  private isScratch(path: string): boolean {
    if (this.scratch.some((folder) => path.startsWith(folder)) || unfinished.test(basename(path))) return true;
    // A program that itself stands in the temporary folder writes its own things around it.
    if (path.startsWith(this.home + sep)) return false;
    return path.startsWith(this.temporary + sep) && drawn.test(path.slice(this.temporary.length));
  }

  /** In the order in which they were first written. */
  things(): Thing[] {
    return [...this.written].flatMap(([path, { fn, effect }]) => {
      const state = this.isScratch(path) ? undefined : this.stateOf(path);
      if (state === undefined) return [];
      const thing: Thing = {
        watcher: "files",
        destination: "files",
        path: this.nameOf(path)
          .split(sep)
          .filter((each) => each !== ""),
        isAddressed: true,
        state,
        by: fn,
        effect,
        made: [],
      };
      return [thing];
    });
  }

  /** Undefined where nothing differs from before. */
  private stateOf(path: string): Json | undefined {
    const before = this.bytesOf(path);
    const after = this.hasOver(path) ? this.bytesOf(this.over(path)) : null;
    if (after === null) return before === null || !this.isGone(path) ? undefined : "‹deleted›";
    if (before?.equals(after) === true) return undefined;
    return contentOf(after, before);
  }

  private bytesOf(path: string): Buffer | null {
    const found = this.real.statSync(path, { throwIfNoEntry: false });
    return found?.isFile() === true ? this.real.readFileSync(path) : null;
  }

  close(): void {
    if (this.isThere) this.real.rmSync(this.root, { recursive: true, force: true });
    this.isThere = false;
  }

  /** The error, with the user's paths. */
  mended(error: unknown): unknown {
    if (!(error instanceof Error)) return error;
    for (const name of ["message", "path", "dest", "stack"] as const) {
      const said = (error as unknown as Record<string, unknown>)[name];
      if (typeof said === "string") Object.assign(error, { [name]: said.replaceAll(this.root, "") });
    }
    return error;
  }

  /** A path of the folder as the user knows it. */
  toUser(path: string): string {
    return this.isInside(path) ? path.slice(this.root.length) : path;
  }
}

/** JSON as it is, text by its lines: lists of what was added, where something was. */
function contentOf(after: Buffer, before: Buffer | null): Json {
  const text = after.toString("utf8");
  if (after.length > textBytesMax || text.includes("�") || text.includes("\0")) {
    return { bytes: after.length, sha256: createHash("sha256").update(after).digest("hex") };
  }
  const json = jsonOf(text);
  const was = before?.toString("utf8") ?? "";
  if (Array.isArray(json)) return without(json, jsonOf(was));
  if (typeof json === "object" && json !== null) return json;
  const added = was !== "" && text.startsWith(was) ? text.slice(was.length) : text;
  return added
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => jsonOf(line) ?? line);
}

function without(list: readonly Json[], was: Json | undefined): readonly Json[] {
  if (!Array.isArray(was)) return list;
  const left = [...list];
  for (const each of was) {
    const at = left.findIndex((other) => JSON.stringify(other) === JSON.stringify(each));
    if (at === -1) return list;
    left.splice(at, 1);
  }
  return left;
}

function jsonOf(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
