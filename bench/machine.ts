// Which machine and which code a figure belongs to.
import { execFileSync } from "node:child_process";
import { cpus, totalmem } from "node:os";

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

function commit(): string {
  try {
    return execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
  } catch {
    return "unknown";
  }
}
