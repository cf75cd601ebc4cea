// Runs started and duplicates suppressed, by hour, for headlines and charts: counted from the decisions by any node that has a moment,
// never where events are accepted. Ids grow with time, so a cursor says how far the counting got; everything behind it is counted once.
import type { RunSummary } from "./reads.ts";

export const hourMs = 60 * 60 * 1_000;

/** Decisions that waited to be decided again when the cursor came by hold it up, but no longer than this. */
export const bufferedHoldMs = 60 * 60 * 1_000;

/** Older hours are forgotten: nobody asks for the Tuesday before last year's. */
export const hoursKeptMs = 400 * 24 * hourMs;

export interface CountInput {
  readonly env: string;
  /** Events of this instant and later are left for another time: their neighbours may still be on their way. */
  readonly until: number;
  /** At most this many decisions: commits of others wait meanwhile. */
  readonly max: number;
}

export interface CountAnswer {
  /** Whether everything up to `until` is counted now. */
  readonly isAll: boolean;
}

/** Decisions for one function in one stretch of time. */
export interface DecisionCount {
  /** When the stretch began. */
  readonly at: number;
  readonly fn: string;
  /** Runs that were started; those a person reran are none. */
  readonly started: number;
  /** Duplicates that were answered with an earlier run. */
  readonly suppressed: number;
}

export interface CountFilter {
  readonly since: number;
  readonly until: number;
  readonly fn?: string;
}

export interface HourCounts {
  readonly counts: readonly DecisionCount[];
  /** Events after this id are not in them; "" when nothing was counted yet. */
  readonly countedTo: string;
}

export interface LiveCountFilter extends CountFilter {
  /** Only events after this one. */
  readonly after: string;
  /** Length of a stretch. */
  readonly stepMs: number;
  readonly examinedMax: number;
  /** With more than that there is no use for a part of it: nothing is counted then. */
  readonly isWhole?: true;
}

export interface LiveCounts {
  readonly counts: readonly DecisionCount[];
  /** Among the runs that were started: those that slipped through; in no order. */
  readonly slips: readonly Slip[];
  /** False when there was more than might be looked at; the newest are missing then. */
  readonly isAll: boolean;
}

/**
 * A run that took a key inside a window that another run had opened: its key had been released by hand. Runs that took it because the one
 * before failed and gave it back are none: their function is configured so.
 */
export interface Slip {
  readonly runId: string;
  /** Of the window: the id of the run that opened it. */
  readonly generation: string;
  readonly fn: string;
  readonly at: number;
}

export interface SlipFilter {
  readonly since?: number;
  readonly until?: number;
  readonly fn?: string;
  /** Runs before this one, newest first. */
  readonly before?: string;
  readonly limit: number;
}

/** A run and what it shares a window with. */
export interface GroupRun {
  /** The run that was first: it opened the window, or is what the others rerun. */
  readonly group: string;
  readonly run: RunSummary;
  /** It took the key of a run that failed or was cancelled and gave it back by itself: `afterFailure: "release"` asks for that. */
  readonly isAfterFailure: boolean;
}

/** The beginning of a run, and the number of duplicates answered with it. */
export interface RunStart {
  readonly runId: string;
  /** Null when its event was deleted. */
  readonly eventName: string | null;
  readonly callerId: string | null;
  readonly reason: string | null;
  readonly windowEndsAt: number | null;
  /** At most `suppressedCountedMax`. */
  readonly suppressed: number;
}

/** An event's name, and the id its caller gave it. */
export interface EventNames {
  readonly eventId: string;
  readonly eventName: string;
  readonly callerId: string | null;
}

/** A hot key may have been asked for a million times; a list says "1,000 and more". */
export const suppressedCountedMax = 1_000;

export interface RunPayload {
  readonly runId: string;
  /** Null when its event was deleted. */
  readonly eventName: string | null;
  /** Event and result as JSON text; null above the size that was asked for, and for a result that is not there. */
  readonly data: string | null;
  readonly result: string | null;
}

/** The newest failed attempt of a run. */
export interface LastFailure {
  readonly runId: string;
  readonly step: string;
  readonly attempt: number;
  /** The first characters of the error's JSON. */
  readonly error: string;
  readonly retryAt: number;
}
