// The statements that each database writes for itself, by the rule that asks them. The parameters and columns are the same on both; how
// the rows are found or locked is not, and that is why there are two. What is the same on both stands in the rule.
import type { Insertion } from "./insertion.ts";

export interface Statements {
  readonly alerts: {
    /** env, alert_id, a list of later ids → later_id */
    readonly knownPairs: string;
    /** env, alert_id, env, alert_id, how many at most */
    readonly deletePairs: string;
  };
  readonly channels: {
    /** env, a list of names → channel, base, floor, last */
    readonly rows: string;
    /** published to before which, how many at most */
    readonly forget: string;
  };
  readonly counts: {
    /** env → eventId, fn */
    readonly cursor: string;
    /** env, event id → eventId: the first that is buffered */
    readonly buffered: string;
    /** env, event id and fn after which, event id and fn up to which */
    readonly count: string;
    readonly slips: string;
  };
  readonly ends: {
    /** a list of numbers of notes */
    readonly forget: string;
  };
  readonly leases: {
    /** env, now → due_at of the earliest timer after it */
    readonly nextTimer: string;
    /** env, now → start_by of the earliest start after it */
    readonly nextOverdue: string;
  };
  readonly memo: {
    /** env, run id → the events it carries */
    readonly carried: string;
  };
  readonly decisions: {
    /** env, event id, fn → a decision */
    readonly lock: string;
    readonly added: Insertion;
    /** of a row: kind, reason, run id, key, end of the window, first event, decided at, env, event id, fn */
    readonly again: string;
    /** reason, env, event id, fn */
    readonly reason: string;
  };
  readonly jobs: {
    /** env, id, fence, worker → lost_workers */
    readonly hold: string;
    /** env, id, fence, worker → had_waits, lane, beside_1, beside_2 */
    readonly end: string;
    /** env, id, worker → a row while it is as it was born */
    readonly bornLeased: string;
  };
  readonly runs: {
    /** state, result, now, fence, env, id → fn, key, holds_key, singleton, carried, awaited, created_at, started_at */
    readonly end: string;
    /** env, id */
    readonly lock: string;
  };
  readonly waits: {
    /** env, run id → the waits for it */
    readonly forChild: string;
    /** env, signal → run_id, step_id */
    readonly signalHolder: string;
    /** env, signal → a wait */
    readonly ofSignal: string;
  };
  readonly cancels: {
    /** env, event name, path, value, stamp, received at → run_id, rest and the run's event */
    readonly candidates: string;
  };
  readonly buffers: {
    /** env, now, how many at most → buffers */
    readonly due: string;
    /** env → due_at */
    readonly nextDue: string;
    /** env, fn, kind, key → a buffer */
    readonly find: string;
  };
  readonly rates: {
    /** :env, :id, :before */
    readonly forget: string;
    /** :env, :id, :stamp, :runId, :at */
    readonly count: string;
  };
  readonly throttles: {
    /** env, id → tat */
    readonly find: string;
  };
  /** By the names in rules/page-reads.ts: what bounds a page, and what is asked of its rows. */
  readonly pages: {
    readonly runs: string;
    readonly runsOfFunction: string;
    readonly runsOfFunctionFloor: string;
    readonly openRuns: string;
    readonly runsOfEvent: string;
    readonly sortedRuns: string;
    readonly sortedRunsOfFunction: string;
    readonly sortedOpenRuns: string;
    readonly decisions: string;
    readonly pending: string;
    readonly oldestPending: string;
  };
  /** By the names in rules/reads.ts. */
  readonly lists: {
    readonly runs: string;
    readonly runsOfFunction: string;
    readonly openRuns: string;
    readonly runsOfEvent: string;
    readonly duplicates: string;
    readonly duplicatesOfRun: string;
    readonly decisionsOfEvents: string;
    readonly claims: string;
    readonly claimsOfScope: string;
    readonly waitPaths: string;
    readonly openCounts: string;
    readonly oldestDue: string;
    readonly pendingCounts: string;
    readonly lastOutcomes: string;
    readonly boundedEvents: string;
  };
  /** By the names in rules/count-reads.ts. */
  readonly headlines: {
    readonly live: string;
    readonly liveSlips: string;
    readonly group: string;
    readonly names: string;
    readonly starts: string;
    readonly payloads: string;
    readonly failures: string;
  };
  /** By the names in rules/read-audit.ts. */
  readonly audit: {
    readonly all: string;
    readonly byAction: string;
    readonly byActor: string;
    readonly bySubject: string;
    /** env, env, id before which, how many at most */
    readonly prune: string;
  };
  readonly history: {
    /** env, fn, id from which, id before which, how many → run_id, run_key, created_at, after_failure and the run's event */
    readonly opened: string;
    /** env, a list of ids → events */
    readonly events: string;
  };
}
