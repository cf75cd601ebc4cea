// The files of the project that a module needs: its imports, and theirs. Read from their texts, so that a branch which was not taken counts, too.
// A package is what the lockfile says it is; one of the same repository (a workspace) counts as a whole.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileAt, findFile } from "../verify/worker/typescript/find-file.ts";
import { readSource } from "./verify-inputs.ts";

export interface Needed {
  readonly files: ReadonlySet<string>;
  /** Packages of the same repository. */
  readonly folders: ReadonlySet<string>;
  /** Why it may be more than that; null where it is all. */
  readonly unclear: string | null;
}

interface Imports {
  readonly files: readonly string[];
  readonly folders: readonly string[];
  readonly unclear: string | null;
}

// Comments and texts are read with the code: a file too many costs a verification, one too few a defect.
const literal = /\b(?:from|import|require|require\.resolve|URL)\s*\(?\s*(["'])((?:\\.|(?!\1)[^\\\n])+)\1/g;
/** By a name that is made when it runs, or by a function that is not called `require`. */
const computed = /(?<![.\w$])(?:import|require|require\.resolve)\s*\(\s*(?!["'\s])|(?<!\brequire = )\bcreateRequire\(/;

export class NeededFiles {
  private readonly imports = new Map<string, Imports>();

  constructor(private readonly shorten: (file: string) => string) {}

  /** Of these files, with themselves. */
  of(entries: readonly string[]): Needed {
    const files = new Set<string>();
    const folders = new Set<string>();
    let unclear: string | null = null;
    const open = entries.map(real);
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (files.has(file)) continue;
      files.add(file);
      const found = this.importsOf(file);
      unclear ??= found.unclear;
      open.push(...found.files);
      for (const folder of found.folders) folders.add(folder);
    }
    return { files, folders, unclear };
  }

  /** Those of `among` that lead to the file, by however many steps. */
  leadingTo(target: string, among: ReadonlySet<string>): ReadonlySet<string> {
    const importers = new Map<string, string[]>();
    for (const file of among)
      for (const each of this.importsOf(file).files) importers.set(each, [...(importers.get(each) ?? []), file]);
    const found = new Set<string>();
    const open = [real(target)];
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      for (const importer of importers.get(file) ?? []) {
        if (!found.has(importer)) open.push(importer);
        found.add(importer);
      }
    }
    return found;
  }

  private importsOf(file: string): Imports {
    const known = this.imports.get(file);
    if (known !== undefined) return known;
    const found = this.read(file);
    this.imports.set(file, found);
    return found;
  }

  private read(file: string): Imports {
    if (!/\.([cm]?[jt]s|[jt]sx)$/.test(file)) return { files: [], folders: [], unclear: null };
    const source = readSource(file);
    const name = this.shorten(file);
    if (source === null) return { files: [], folders: [], unclear: `${name} cannot be read` };
    const names = [...source.matchAll(literal)].map(([, , each]) => each!);
    const inner = names.find((each) => each.startsWith("#"));
    const why = computed.test(source)
      ? "imports by a name that is made when it runs"
      : inner === undefined
        ? null
        : `imports ${inner}, which its package.json leads somewhere`;
    const files = names.flatMap((each) => fileOf(each, file) ?? []);
    const folders = names.flatMap((each) => workspaceOf(each, file));
    return { files, folders, unclear: why === null ? null : `${name} ${why}` };
  }
}

const real = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

function fileOf(name: string, from: string): string | null {
  if (name.startsWith("file:")) return fileAt(decodeURIComponent(new URL(name).pathname), true);
  const found = findFile(name, from);
  return found === null ? null : real(found);
}

const isPackage = (path: string): boolean => path.split(sep).includes("node_modules");

/** The folder of a package of the same repository, with those it depends on; none for what was installed. */
function workspaceOf(name: string, from: string, seen: ReadonlySet<string> = new Set()): string[] {
  const [, own] = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:\/|$)/.exec(name) ?? [];
  if (own === undefined || name.startsWith("node:")) return [];
  for (let folder = dirname(from); ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", own);
    if (existsSync(path)) {
      const target = realpathSync(path);
      return isPackage(target) || seen.has(target) ? [] : [target, ...dependenciesOf(target, seen)];
    }
    if (dirname(folder) === folder) return [];
  }
}

function dependenciesOf(folder: string, seen: ReadonlySet<string>): string[] {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return [];
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(readFileSync(file, "utf8")) as Readonly<
    Record<string, Readonly<Record<string, string>> | undefined>
  >;
  const names = Object.keys({ ...dependencies, ...peerDependencies });
  return names.flatMap((name) => workspaceOf(name, file, new Set([...seen, folder])));
}
