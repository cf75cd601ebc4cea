// The machine and the code a figure belongs to.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly node: string;
  readonly commit: string;
  readonly takenAt: string;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() || "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    node: process.version,
    commit: commit(),
    takenAt: new Date().toISOString().slice(0, 16),
  };
}

const here = dirname(fileURLToPath(import.meta.url));
/** The repository, whether this runs from the sources or from `dist`. */
export const root = join(here, here.endsWith("dist") ? "../.." : "..");

/** The version of a package, by its folder in the repository. */
export const packageVersion = (folder: string): string =>
  (JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as { version: string }).version;

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
