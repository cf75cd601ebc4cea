// A run's timeline as rows of bars: one step, one row, its attempts in it in order. Pure: the same answer at the same instant is
// the same picture.
import type { State } from "../../parts/state-icon.tsx";
import { durationWords, lengthWords } from "../../parts/time-words.ts";
import type { Span } from "./fold.ts";
import { type EffectItem, isOpen, type RunDetail, type TimelineAttempt, type TimelineEntry } from "./run-data.ts";

export interface Bar {
  readonly kind: "value" | "error" | "pause" | "wait" | "queued" | "working" | "skipped" | "remark" | "rest";
  readonly from: number;
  /** Null while it goes on: it fades out at the now line. */
  readonly to: number | null;
  /** On the bar, or over a pause. */
  readonly text?: string;
}

export interface Row {
  /** The step's id in the run; `queued` and `working` are no steps. */
  readonly id: string;
  readonly name: string;
  readonly state: State;
  readonly from: number;
  readonly to: number | null;
  /** "640 ms", "10 s so far" */
  readonly words: string;
  readonly bars: readonly Bar[];
  /** Behind the last bar: "to stripe", "slept". */
  readonly note: string | null;
  readonly entry: TimelineEntry | null;
}

const waitKinds: ReadonlySet<TimelineEntry["kind"]> = new Set(["sleep", "wait-for-event", "wait-for-signal", "invoke"]);
export const isWait = ({ kind }: Pick<TimelineEntry, "kind">): boolean => waitKinds.has(kind);

const remarkKinds: ReadonlySet<TimelineEntry["kind"]> = new Set(["code-changed", "diverged"]);
/** Something that was found out about the run, and no step of it: it did nothing and took no time. */
export const isRemark = ({ kind }: Pick<TimelineEntry, "kind">): boolean => remarkKinds.has(kind);

// More than this cannot be told apart in one row: the first, how many, the last three.
const attemptsDrawnMax = 8;
const lastDrawn = 3;

export const nameOf = (entry: Pick<TimelineEntry, "name" | "kind">): string =>
  entry.kind === "function"
    ? "code between steps"
    : entry.kind === "diverged"
      ? `${entry.name} not asked for`
      : entry.name;

/** Facts from beside the timeline. */
export interface RowsFacts {
  readonly now: number;
  readonly effects: readonly EffectItem[];
  /** The processes behind workers. */
  readonly workers: Readonly<Record<string, string>>;
}

export function rowsOf(run: RunDetail, { now, effects, workers }: RowsFacts): Row[] {
  const steps = run.timeline
    .map((entry) => stepRow(entry, now, effects.find(({ stepId }) => stepId === entry.stepId)?.destination ?? null))
    // As they were begun; recorded is when they ended. Equal instants keep the order of recording.
    .sort((a, b) => Number(b.entry!.isKept) - Number(a.entry!.isKept) || a.from - b.from);
  const rows = [queuedRow(run, now, workers), ...steps];
  const working = workingRow(run, steps, now);
  return working === null ? rows : [...rows, working];
}

function queuedRow(run: RunDetail, now: number, workers: RowsFacts["workers"]): Row {
  const to = run.startedAt ?? (isOpen(run) ? null : run.endedAt);
  const worker =
    run.timeline.flatMap(({ attempts, isKept }) => (isKept ? [] : attempts)).find((each) => each.worker !== null)
      ?.worker ?? null;
  const length = durationWords((to ?? now) - run.createdAt);
  return {
    id: "queued",
    name: "queued",
    state: "queued",
    from: run.createdAt,
    to,
    words: to === null ? `${length} so far` : length,
    bars: [{ kind: "queued", from: run.createdAt, to }],
    note:
      run.startedAt === null
        ? null
        : worker === null || workers[worker] === undefined
          ? `taken up after ${length}`
          : `worker ${processOf(workers[worker]).host} took it after ${length}`,
    entry: null,
  };
}

/** A step is known once an attempt of it ended; until then all there is to see is that code is at work. */
function workingRow(run: RunDetail, steps: readonly Row[], now: number): Row | null {
  if (run.state !== "running" || run.startedAt === null) return null;
  const from = steps.reduce(
    (latest, { to, entry }) => (entry!.isKept ? latest : Math.max(latest, to ?? 0)),
    run.startedAt,
  );
  const words = `${durationWords(Math.max(0, now - from))} so far`;
  return {
    id: "working",
    name: "at work",
    state: "running",
    from,
    to: null,
    words,
    bars: [{ kind: "working", from, to: null }],
    note: null,
    entry: null,
  };
}

function stepRow(entry: TimelineEntry, now: number, destination: string | null): Row {
  const from = entry.attempts.reduce((first, { startedAt }) => Math.min(first, startedAt), entry.startedAt);
  const to = entry.endedAt;
  const length = durationWords(Math.max(0, (to ?? now) - from));
  return {
    id: entry.stepId === "" ? "function" : entry.stepId,
    name: nameOf(entry),
    state: entry.state === "retrying" ? "waiting" : entry.state,
    from,
    to,
    words: entry.isKept ? "kept" : isRemark(entry) ? "" : to === null ? `${length} so far` : length,
    bars: entry.isKept ? [] : barsOf(entry),
    note: noteOf(entry, destination),
    entry,
  };
}

function barsOf(entry: TimelineEntry): Bar[] {
  if (isRemark(entry)) return [{ kind: "remark", from: entry.startedAt, to: entry.startedAt }];
  if (isWait(entry)) return [{ kind: "wait", from: entry.startedAt, to: entry.endedAt }];
  const { attempts } = entry;
  if (attempts.length <= attemptsDrawnMax) return attempts.flatMap((each) => attemptBars(each, entry));
  const first = attempts[0]!;
  const last = attempts.slice(-lastDrawn);
  return [
    ...attemptBars(first, entry).filter(({ kind }) => kind !== "pause"),
    { kind: "skipped", from: first.endedAt, to: last[0]!.startedAt, text: `… ${attempts.length} attempts …` },
    ...last.flatMap((each) => attemptBars(each, entry)),
  ];
}

function attemptBars(attempt: TimelineAttempt, entry: TimelineEntry): Bar[] {
  const isError = attempt.error !== null;
  const bar: Bar = {
    kind: isError ? "error" : "value",
    from: attempt.startedAt,
    to: attempt.endedAt,
    ...(attempt.attempt > 1 ? { text: `${attempt.attempt}` } : {}),
  };
  if (attempt.retryAt === null) return [bar];
  const next = entry.attempts.find((each) => each.attempt === attempt.attempt + 1);
  const text = `${reasonOf(attempt.error)}, again in ${lengthWords(Math.max(0, attempt.retryAt - attempt.endedAt))}`;
  // A run that ended meanwhile never tried again; one that goes on will.
  if (next === undefined && entry.endedAt !== null) return [bar];
  return [bar, { kind: "pause", from: attempt.endedAt, to: next?.startedAt ?? null, text }];
}

// An HTTP status says more in three characters than the sentence around it.
const status = /(?<![\d.])[45]\d\d(?![\d.])/;
const reasonCharsMax = 18;

function reasonOf(error: TimelineAttempt["error"]): string {
  if (error === null) return "error";
  const found = status.exec(error.message);
  if (found !== null) return found[0];
  const text = error.name === "Error" ? error.message.split(/[:.\n]/)[0]! : error.name;
  return text.length > reasonCharsMax ? `${text.slice(0, reasonCharsMax - 1)}…` : text || "error";
}

function noteOf(entry: TimelineEntry, destination: string | null): string | null {
  if (entry.isKept) return "kept from the run before";
  if (destination !== null) return `to ${destination}`;
  switch (entry.kind) {
    case "code-changed":
    case "diverged":
      return remarkWords(entry);
    case "sleep":
      return entry.endedAt === null ? null : "slept";
    case "wait-for-event":
    case "wait-for-signal":
      return entry.endedAt === null
        ? null
        : entry.output?.value === null && !entry.output.isOmitted
          ? "nothing came"
          : "came";
    default:
      return null;
  }
}

/** "5ynk8qRRWg → Xu16YFyXVl", "charge-card instead" */
function remarkWords({ kind, output }: TimelineEntry): string | null {
  const { from, to, asked } = (output?.value ?? {}) as Readonly<Record<string, unknown>>;
  if (kind === "code-changed") return typeof from === "string" && typeof to === "string" ? `${from} → ${to}` : null;
  return typeof asked === "string" ? `${asked} instead` : null;
}

/** A process as it names itself: "process 4121 on web-2". */
export function processOf(node: string): { readonly host: string; readonly process: string | null } {
  const named = /^process (\d+) on (.+)$/.exec(node);
  return named === null ? { host: node, process: null } : { host: named[2]!, process: named[1]! };
}

/** Spans of work: a fold must leave them alone. */
export const workOf = (rows: readonly Row[], now: number): Span[] =>
  rows.flatMap(({ bars }) =>
    bars.flatMap(({ kind, from, to }) =>
      kind === "value" || kind === "error" || kind === "working" ? [{ from, to: to ?? now }] : [],
    ),
  );

/** From the run's creation to its end, or to now. */
export const rangeOf = (run: RunDetail, now: number): Span => ({
  from: run.createdAt,
  to: Math.max(run.createdAt + 1, run.endedAt ?? now),
});
