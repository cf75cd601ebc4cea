// News for people and programs, each said once: to the log and to listeners (`idem.on`). To add one: its line in the union,
// and its line in the table with its level and its sentence. Nothing here carries an event's data or a step's value.
import { isLoud } from "./entries.ts";
import type { SerializedError } from "./user-errors.ts";

interface OfRun {
  readonly env: string;
  /** By its own id if it is this app's, by its full name otherwise. */
  readonly function: string;
  readonly runId: string;
}

/** The run whose end this one was started to handle (`onFailure`, `onCancel`). */
export interface Handled {
  readonly function: string;
  readonly runId: string;
}

export type Tidings =
  | (OfRun & {
      readonly kind: "attempt.failed";
      /** Null for the code between steps. */
      readonly step: string | null;
      /** Counted from 1. */
      readonly attempt: number;
      readonly maxAttempts: number;
      readonly failedAt: number;
      /** Null when it was the last. */
      readonly retryAt: number | null;
      readonly error: SerializedError;
    })
  | (OfRun & { readonly kind: "run.completed" })
  | (OfRun & { readonly kind: "run.failed"; readonly error: SerializedError; readonly handles: Handled | null })
  | (OfRun & { readonly kind: "run.cancelled"; readonly error: SerializedError; readonly isTimeout: boolean })
  /** Its process was lost, and this one goes on with it. */
  | (OfRun & {
      readonly kind: "run.taken-over";
      /** Processes lost with it since it last got on. */
      readonly lostWorkers: number;
      /** The last of them. */
      readonly worker: string;
    })
  /** It goes on when a person says so. */
  | (OfRun & { readonly kind: "run.parked"; readonly reason: string })
  /** Its code no longer asks for a step it had begun. */
  | (OfRun & {
      readonly kind: "run.diverged";
      readonly step: string;
      /** The new step it had asked for by then; null for none. */
      readonly asked: string | null;
      readonly reason: string;
    })
  /** It was started without a key, or past a limit, that its function asks for. */
  | (OfRun & { readonly kind: "run.unprotected"; readonly reason: string })
  | (OfRun & {
      readonly kind: "app.unreachable";
      readonly step: string | null;
      readonly retryAt: number | null;
      readonly failedAt: number;
      readonly error: SerializedError;
    })
  /** `option` is where it is written: "trigger.if", "concurrency.key", … */
  | {
      readonly kind: "expression.failed";
      readonly env: string;
      readonly function: string | null;
      readonly runId: string | null;
      readonly option: string;
      readonly expression: string;
      readonly reason: string;
    }
  /** Events that start nothing until a person acts: their function is paused, or their key is missing. */
  | {
      readonly kind: "events.waiting";
      readonly env: string;
      readonly function: string;
      readonly eventId: string;
      readonly why: "paused" | "held";
      readonly reason: string;
    }
  /** It answers, but not soon. */
  | { readonly kind: "store.slow"; readonly env: string; readonly tookMs: number }
  /** It could not take something and was asked again, or answered with an error that is true. */
  | { readonly kind: "store.troubled"; readonly env: string; readonly reason: string }
  /** It does not answer: reported once when that begins, and each minute while it lasts. `opening`: `start()` waits for it. */
  | {
      readonly kind: "store.unreachable";
      readonly phase: "opening" | "open";
      readonly since: number;
      /** 0 the first time. */
      readonly forMs: number;
      /** Calls of this process that failed because of it. */
      readonly failedCalls: number;
      readonly reason: string;
    }
  /** It answers again. */
  | {
      readonly kind: "store.back";
      readonly phase: "opening" | "open";
      readonly forMs: number;
      readonly failedCalls: number;
    }
  /** Due runs of a function that no node takes; reported again every ten minutes. */
  | {
      readonly kind: "function.unserved";
      readonly env: string;
      readonly function: string;
      readonly dueRuns: number;
    }
  /** It lost acknowledged writes, as after a failover to a standby that was behind. */
  | {
      readonly kind: "store.rolled-back";
      readonly env: string;
      /** The last instant the store still has of this process; null where it has nothing. */
      readonly from: number | null;
      /** The last acknowledgement before it. */
      readonly to: number;
      /** Ids of events, and of runs that had ended, which this process was acknowledged for and the store does not have. */
      readonly missing: readonly string[];
    };

export type TidingsKind = Tidings["kind"];
export type TidingsOf<K extends TidingsKind> = Extract<Tidings, { readonly kind: K }>;

export type LogLevel = "debug" | "info" | "warn" | "error";

interface Told<T extends Tidings> {
  /** Null where the log need not say it. */
  readonly level: LogLevel | null | ((tidings: T) => LogLevel | null);
  /** Where it may come in thousands: said once in this time for each `about`, the others are counted. */
  readonly seldom?: { readonly ms: number; readonly about: (tidings: T) => string };
  readonly sentence: (tidings: T) => string;
}

const second = 1_000;
const minute = 60 * second;
const lineMax = 500;

const ofRun = ({ function: fn, runId }: OfRun): string => `run ${runId} of "${fn}"`;
const inStep = (step: string | null): string => (step === null ? "its code between steps" : `step "${step}"`);
const nameOf = ({ name, message }: SerializedError): string => `${name}: ${firstLine(message)}`;
/** As much as fits a line; the error itself has the rest. */
const firstLine = (message: string): string => message.split("\n", 1)[0]!.slice(0, lineMax);
const nextTry = (retryAt: number | null, failedAt: number): string =>
  retryAt === null
    ? "it is not tried again"
    : `next try in ${lengthOf(retryAt - failedAt)}, at ${new Date(retryAt).toISOString()}`;

/** "250 ms", "15 s", "2 min", "3 h". */
function lengthOf(ms: number): string {
  if (ms < second) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 2 * minute) return `${Math.round(ms / second)} s`;
  if (ms < 120 * minute) return `${Math.round(ms / minute)} min`;
  return `${Math.round(ms / (60 * minute))} h`;
}

export const told: { readonly [K in TidingsKind]: Told<TidingsOf<K>> } = {
  "attempt.failed": {
    // The last of the code between steps is the run's own failure, which is reported with the same error.
    level: ({ step, retryAt }) => (step === null && retryAt === null ? null : "warn"),
    sentence: (t) =>
      `attempt ${t.attempt} of ${t.maxAttempts} of ${inStep(t.step)} failed in ${ofRun(t)}: ${nameOf(t.error)} (${nextTry(t.retryAt, t.failedAt)})`,
  },
  "run.completed": { level: null, sentence: (t) => `${ofRun(t)} completed` },
  "run.failed": {
    level: "error",
    sentence: (t) =>
      t.handles === null
        ? `${ofRun(t)} failed: ${nameOf(t.error)}`
        : `${ofRun(t)}, started for the end of run ${t.handles.runId} of "${t.handles.function}", failed itself: ${nameOf(t.error)}`,
  },
  "run.cancelled": {
    level: ({ isTimeout }) => (isTimeout ? "warn" : null),
    sentence: (t) => `${ofRun(t)} was cancelled: ${firstLine(t.error.message)}`,
  },
  "run.taken-over": {
    level: ({ lostWorkers }) => (isLoud(lostWorkers) ? "error" : "warn"),
    sentence: (t) =>
      `${ofRun(t)} is taken over: worker ${t.worker}, which had it, was lost${t.lostWorkers > 1 ? `, the ${ordinal(t.lostWorkers)} in a row without an outcome` : " before anything came of it"}`,
  },
  "run.parked": { level: "error", sentence: (t) => `${ofRun(t)} is parked for a person: ${t.reason}` },
  "run.diverged": { level: "warn", sentence: (t) => `${ofRun(t)} does not do what it did before: ${t.reason}` },
  "run.unprotected": { level: "warn", sentence: (t) => `${ofRun(t)}: ${t.reason}` },
  "app.unreachable": {
    level: "warn",
    seldom: { ms: 10 * second, about: (t) => `${t.env} ${t.function}` },
    sentence: (t) =>
      `the app of "${t.function}" could not be reached for ${inStep(t.step)} of run ${t.runId}: ${firstLine(t.error.message)} (${nextTry(t.retryAt, t.failedAt)}; no attempt is spent)`,
  },
  "expression.failed": {
    level: "warn",
    seldom: { ms: minute, about: (t) => `${t.env} ${t.function} ${t.option} ${t.expression}` },
    sentence: (t) =>
      `${t.option} of ${t.function === null ? `run ${t.runId}` : `"${t.function}"`} could not be decided for an event: ${t.reason}; guard what may be missing with has(…)`,
  },
  "events.waiting": {
    level: "warn",
    seldom: { ms: 10 * minute, about: (t) => `${t.env} ${t.function} ${t.why}` },
    sentence: (t) =>
      t.why === "paused"
        ? `function "${t.function}" is paused: event ${t.eventId} waits; resume the function, or release or drop its events`
        : `event ${t.eventId} is held for function "${t.function}": ${t.reason}; release or drop it`,
  },
  "store.slow": {
    level: "warn",
    seldom: { ms: minute, about: (t) => t.env },
    sentence: (t) =>
      `the store took ${lengthOf(t.tookMs)} to answer: it, the way to it, or this process has too much to do`,
  },
  "store.troubled": {
    level: "warn",
    seldom: { ms: 10 * second, about: (t) => t.reason },
    sentence: (t) => `the store is in trouble: ${t.reason}`,
  },
  "store.unreachable": {
    level: "error",
    sentence: (t) => {
      const what = t.phase === "opening" ? "store not ready" : "store unreachable";
      const how = t.forMs === 0 ? `${what}, retrying` : `${what} for ${lengthOf(t.forMs)}, retrying`;
      const failed = t.failedCalls === 0 ? "" : ` failedCalls=${t.failedCalls}`;
      return `${how} since=${new Date(t.since).toISOString()}${failed} cause=${JSON.stringify(firstLine(t.reason))}`;
    },
  },
  "store.back": {
    // A reader of the first line needs the second one, too.
    level: "warn",
    sentence: (t) => {
      const what = t.phase === "opening" ? "connected to the store" : "store back";
      return `${what} after ${lengthOf(t.forMs)}${t.failedCalls === 0 ? "" : ` failedCalls=${t.failedCalls}`}`;
    },
  },
  "function.unserved": {
    level: "warn",
    sentence: (t) =>
      `due runs wait, no node takes them function=${JSON.stringify(t.function)} dueRuns=${t.dueRuns} env=${t.env}: start a node that has the function, list its old id in "was" if it was renamed, or cancel the runs (idem cancel)`,
  },
  "store.rolled-back": {
    // The block in the log is written where it is found (engine/lost-writes.ts), past the bound on lines: after a failover there are many.
    level: null,
    sentence: () => "the store lost acknowledged writes",
  },
};

export const tidingsKinds = Object.keys(told) as readonly TidingsKind[];

export function levelOf<K extends TidingsKind>(tidings: TidingsOf<K>): LogLevel | null {
  const { level } = told[tidings.kind as K];
  return typeof level === "function" ? level(tidings) : level;
}

const ordinal = (n: number): string => (n === 2 ? "second" : n === 3 ? "third" : `${n}th`);
