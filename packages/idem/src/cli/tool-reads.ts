// Reads that only tools ask of a store: its history row by row, and whether everything open still moves. A file answers at once, a server
// page by page.
import type { Event } from "../model/event.ts";
import type { Rows } from "../radar/finding.ts";
import type { PrunedPage, PruneInput } from "../store/prune.ts";
import type { OverdueRun, StuckRun, WaitingCount } from "../store/rules/health-reads.ts";
import type { OpenedRun, SuppressedEvent } from "../store/rules/history-reads.ts";
import { ClaimIndex } from "../store/sqlite/claim-index.ts";
import type { Connection } from "../store/sqlite/connection.ts";
import {
  historyOf,
  overdueRuns,
  runsOfUnknownWorkers,
  runsWithoutJob,
  waitingRuns,
} from "../store/sqlite/health-reads.ts";
import { countPrunable } from "../store/sqlite/prune-events.ts";

export interface ToolReads {
  functionsWithRuns(env: string): Promise<readonly string[]>;
  /** Newest first, as the two after it. */
  openedRuns(env: string, fn: string, since: number): Rows<OpenedRun>;
  receivedEvents(env: string, since: number): Rows<Event>;
  suppressedEvents(env: string, since: number): Rows<SuppressedEvent>;
  /** Oldest first: what came after the event of that id. */
  eventsAfter(env: string, after: string, limit: number): Promise<readonly Event[]>;
  runsWithoutJob(env: string, limit: number): Promise<readonly StuckRun[]>;
  runsOfUnknownWorkers(env: string, limit: number): Promise<readonly StuckRun[]>;
  overdueRuns(env: string, now: number, forMs: number, limit: number): Promise<readonly OverdueRun[]>;
  waitingRuns(env: string, limit: number): Promise<readonly WaitingCount[]>;
  /** A page of what pruning would delete. */
  countPrunable(input: Omit<PruneInput, "max">, now: number): Promise<PrunedPage>;
}

export function toolReadsOfFile(connection: Connection): ToolReads {
  let claims: ClaimIndex | null = null;
  return {
    ...historyOf(connection),
    runsWithoutJob: async (env, limit) => runsWithoutJob(connection, env, limit),
    runsOfUnknownWorkers: async (env, limit) => runsOfUnknownWorkers(connection, env, limit),
    overdueRuns: async (env, now, forMs, limit) => overdueRuns(connection, env, now, forMs, limit),
    waitingRuns: async (env, limit) => waitingRuns(connection, env, limit),
    countPrunable: async (input, now) => {
      claims ??= new ClaimIndex(connection);
      return countPrunable(connection, claims, input, now);
    },
  };
}
