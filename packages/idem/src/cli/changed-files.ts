// Changes since a commit, by git: committed, staged, in the working tree, or not added yet.
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { printable } from "./printable.ts";

/** Of one file; `unknown` of one that git does not look after. */
export type FileChange = "changed" | "same" | "unknown";

export interface Changes {
  readonly kind: "told";
  /** For people: "origin/main (1a2b3c4d5e)". */
  readonly since: string;
  of(file: string): FileChange;
  /** Something in this folder has changed. */
  isIn(folder: string): boolean;
  /** The name of a changed file that decides how this one is loaded, or which packages it finds; null where none has changed. */
  around(file: string): string | null;
}

export interface Untold {
  readonly kind: "untold";
  readonly why: string;
}

/** A list of every file of a large repository. */
const outputBytesMax = 256 * 1024 * 1024;

function git(cwd: string, ...args: string[]): string | null {
  const { status, stdout } = spawnSync("git", args, { cwd, encoding: "utf8", maxBuffer: outputBytesMax });
  return status === 0 ? stdout : null;
}

const listed = (text: string | null): string[] | null =>
  text === null ? null : text.split("\0").filter((name) => name !== "");

/** Files that say which packages there are and what names lead to: not imported, and part of everything that is. */
const isSurrounding = (name: string): boolean =>
  /^(package\.json|package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|pnpm-workspace\.yaml|bun\.lockb?|[tj]sconfig.*\.json)$/.test(
    name,
  );

export function changedSince(cwd: string, commit: string): Changes | Untold {
  const untold = (why: string): Untold => ({ kind: "untold", why });
  const top = git(cwd, "rev-parse", "--show-toplevel");
  if (top === null) return untold("this is no repository of git, or there is no git");
  const root = realpathSync(top.replace(/\n$/, ""));
  const asked = commit === "" ? "HEAD" : commit;
  const id = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", `${asked}^{commit}`)?.trim();
  if (id === undefined)
    return untold(`git knows no commit "${printable(asked)}" (a clone without history lacks it: fetch-depth: 0)`);
  const different = listed(git(root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", id, "--"));
  const untracked = listed(git(root, "ls-files", "--others", "--exclude-standard", "-z"));
  const tracked = listed(git(root, "ls-files", "-z"));
  if (different === null || untracked === null || tracked === null) return untold("git does not say what has changed");
  return changesOf(root, `${printable(asked)} (${id.slice(0, 10)})`, [...different, ...untracked], tracked);
}

function changesOf(root: string, since: string, names: readonly string[], tracked: readonly string[]): Changes {
  const pathOf = (name: string): string => join(root, ...name.split("/"));
  const changed = new Set(names.map(pathOf));
  const known = new Set(tracked.map(pathOf));
  const surrounding = [...changed].filter((path) => isSurrounding(basename(path)));
  return {
    kind: "told",
    since,
    of: (file) => (changed.has(file) ? "changed" : known.has(file) ? "same" : "unknown"),
    isIn: (folder) => [...changed].some((path) => path.startsWith(`${folder}${sep}`) || path === folder),
    around: (file) => {
      const found = surrounding.find((path) => file.startsWith(`${dirname(path)}${sep}`));
      return found === undefined ? null : relative(root, found);
    },
  };
}
