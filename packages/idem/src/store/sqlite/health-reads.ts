// Is the file sound, does everything open still move, and what came in the last days? Read-only questions of tools.
import {
  overdueRuns as overdueRule,
  runsWithoutJob as runsWithoutJobRule,
  runsOfUnknownWorkers as unknownWorkersRule,
  waitingRuns as waitingRule,
} from "../rules/health-reads.ts";
import { historyOver } from "../rules/history-reads.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { over, RuleDatabase } from "./rule-database.ts";

/** An empty list means that nothing is wrong. `quick` skips comparing indexes with their tables, and rows with what their columns may hold. */
export function checkIntegrity(connection: Connection, how: "full" | "quick"): string[] {
  const pragma = how === "full" ? "integrity_check(20)" : "quick_check(20)";
  const rows = connection.all<Record<string, string>>(`pragma ${pragma}`);
  const wrong = rows.map((row) => String(Object.values(row)[0])).filter((text) => text !== "ok");
  return how === "full" ? [...wrong, ...brokenChecks(connection)] : wrong;
}

const checkedTablesSql = "select name, sql from sqlite_schema where type = 'table' and sql like '%check (%'";

/** SQLite itself does not know the checks of a file on a handle that only reads, and the owner's handle leaves them out (thread.ts). */
function* brokenChecks(connection: Connection): Generator<string> {
  for (const { name, sql } of connection.all<{ name: string; sql: string }>(checkedTablesSql)) {
    for (const [, check] of sql.matchAll(/\bcheck \(((?:[^()]|\([^()]*\))*)\)/g)) {
      if (connection.one(`select 1 from "${name}" where not (${check!}) limit 1`) === undefined) continue;
      yield `a row of ${name} is not as it must be: ${check!}`;
    }
  }
}

export interface FileFacts {
  readonly journalMode: string;
  readonly pageCount: number;
  readonly pageSize: number;
  readonly freePages: number;
  /** The last process that opened it for writing. */
  readonly owner: string | null;
  /** The store's clock at its last write, within a second. */
  readonly clock: number | null;
  /** Null for one that no process has opened since stores have ids. */
  readonly storeId: string | null;
}

const metaSql = "select value from meta where name = ?";

export function readFileFacts(connection: Connection): FileFacts {
  const pragma = (name: string) => connection.pragma(name) as number;
  const meta = (name: string) => connection.one<{ value: string }>(metaSql, name)?.value ?? null;
  const clock = meta("clock");
  return {
    journalMode: String(connection.pragma("journal_mode")),
    pageCount: pragma("page_count"),
    pageSize: pragma("page_size"),
    freePages: pragma("freelist_count"),
    owner: meta("owner"),
    clock: clock === null ? null : Number(clock),
    storeId: meta("store-id"),
  };
}

export const runsWithoutJob = over(runsWithoutJobRule);
export const overdueRuns = over(overdueRule);
export const runsOfUnknownWorkers = over(unknownWorkersRule);
export const waitingRuns = over(waitingRule);

export const historyOf = (connection: Connection) => historyOver(new RuleDatabase(connection), driveAtOnce);
