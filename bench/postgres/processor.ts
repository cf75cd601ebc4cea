// Processor time of the server's processes, by what they do. Linux tells it in /proc; elsewhere nothing is said.
import { readdirSync, readFileSync } from "node:fs";
import type { BenchServer } from "./server.ts";

// The unit of /proc; the same on every Linux that Node runs on.
const tickUs = 10_000;

interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  readonly ownUs: number;
  /** Of children that ended and were waited for. */
  readonly endedUs: number;
}

export interface ServerTime {
  readonly allUs: number;
  readonly byPid: ReadonlyMap<number, number>;
  readonly kindOf: ReadonlyMap<number, string>;
}

export async function readServerTime({ admin, pid }: BenchServer): Promise<ServerTime | null> {
  if (process.platform !== "linux") return null;
  const { rows } = await admin.query<{ pid: number; kind: string }>(
    "select pid, coalesce(backend_type, '') as kind from pg_stat_activity where pid <> pg_backend_pid()",
  );
  const family = processes().filter((each) => each.pid === pid || each.parent === pid);
  const { endedUs } = family.find((each) => each.pid === pid)!;
  return {
    allUs: endedUs + family.reduce((sum, { ownUs }) => sum + ownUs, 0),
    byPid: new Map(family.map((each) => [each.pid, each.ownUs])),
    kindOf: new Map(rows.map(({ pid, kind }) => [pid, kind])),
  };
}

/** Microseconds per run, in all and by kind of process. Processes that began or ended meanwhile, autovacuum's workers mostly, are "other". */
export function serverTimeOf(before: ServerTime, after: ServerTime, runs: number): Record<string, number> {
  const byKind: Record<string, number> = {};
  let known = 0;
  for (const [pid, us] of after.byPid) {
    const earlier = before.byPid.get(pid);
    const kind = after.kindOf.get(pid) ?? before.kindOf.get(pid);
    if (earlier === undefined || kind === undefined) continue;
    known += us - earlier;
    byKind[kind] = (byKind[kind] ?? 0) + (us - earlier) / runs;
  }
  const all = after.allUs - before.allUs;
  return { all: all / runs, ...byKind, other: Math.max(0, all - known) / runs };
}

function processes(): ProcessTime[] {
  const found: ProcessTime[] = [];
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    let stat: string;
    try {
      stat = readFileSync(`/proc/${name}/stat`, "utf8");
    } catch {
      // It ended between the listing and the look.
      continue;
    }
    // The name stands in parentheses and may hold spaces: fields are counted from behind it, the state being the third.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const field = (n: number): number => Number(fields[n - 3]);
    found.push({
      pid: Number(name),
      parent: field(4),
      ownUs: (field(14) + field(15)) * tickUs,
      endedUs: (field(16) + field(17)) * tickUs,
    });
  }
  return found;
}
