// The progress of bulk work, as its doer knows it and as it is kept beside its claim for the others: the order, what was done, and how often
// it changed hands. Any process that finds the claim's lease over goes on with it.
import type { BulkAction, LeftOut } from "../engine/bulk/left-out.ts";
import type { BulkFilter as PlainFilter } from "../engine/bulk/select-runs.ts";
import { fromJson } from "../model/json.ts";
import type { RunState } from "../model/run.ts";

export interface BulkFilter extends PlainFilter {
  /** As written: "7d" means the seven days before the work was asked for. */
  readonly since?: string;
  readonly until?: string;
}

export interface BulkRequest {
  readonly id: string;
  readonly action: BulkAction;
  readonly filter: BulkFilter;
  /** Why: the error of runs it cancels. */
  readonly reason: string;
  /** Runs a second at most; absent or null for as many as go. */
  readonly pace?: number | null;
  /** The person, for the audit. */
  readonly actor?: string;
  /** The request as it came: what a second one under the same id is compared with. */
  readonly asked: unknown;
}

/** `failed` did not get to the end; sending the request again goes on with it. `interrupted` is gone on with by itself. */
export type BulkState = "running" | "completed" | "cancelled" | "failed" | "interrupted";

export interface BulkProgress {
  readonly id: string;
  readonly action: BulkRequest["action"] | null;
  readonly filter: BulkFilter;
  readonly reason: string;
  readonly state: BulkState;
  /** Runs that fit the filter so far; final once the state is. */
  readonly matchedCount: number;
  readonly doneCount: number;
  /** Nothing was to be done, or another is doing it. */
  readonly skippedCount: number;
  /** Why they were skipped. */
  readonly leftOut: readonly LeftOut[];
  /** Ends of the runs that reruns made; null where this process does not know. */
  readonly outcomes: readonly BulkOutcome[] | null;
  readonly pace: number | null;
  readonly failedCount: number;
  /** The first failures. */
  readonly failures: readonly { readonly runId: string; readonly error: string }[];
  /** Why the work as a whole ended early. */
  readonly error: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
}

export interface BulkOutcome {
  readonly state: RunState;
  readonly count: number;
  /** The first of them. */
  readonly runIds: readonly string[];
}

const outcomeIdsShown = 50;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type Work = Writable<BulkProgress> & {
  isCancelled: boolean;
  /** Another process has it. */
  isLost: boolean;
  takeovers: number;
  readonly actor: string | undefined;
  /** Runs that reruns made, with the state they were last seen in. */
  readonly begun: Map<string, RunState>;
  askedAt: number;
};

export interface BulkNote {
  readonly order: Omit<BulkRequest, "asked">;
  readonly progress: BulkProgress;
  readonly takeovers: number;
}

export function noteOf(work: Work): string {
  const { id, action, filter, reason, pace, actor, takeovers } = work;
  const order = { id, action: action!, filter, reason, pace, ...(actor === undefined ? {} : { actor }) };
  return JSON.stringify({ order, progress: shown(work), takeovers } satisfies BulkNote);
}

export function shown(work: Work): BulkProgress {
  const { isCancelled: _, isLost: __, takeovers: ___, actor: ____, begun, askedAt: _____, ...progress } = work;
  return { ...progress, outcomes: progress.outcomes === null ? null : outcomesOf(begun) };
}

function outcomesOf(begun: ReadonlyMap<string, RunState>): readonly BulkOutcome[] {
  const outcomes = new Map<RunState, { state: RunState; count: number; runIds: string[] }>();
  for (const [id, state] of begun) {
    const known = outcomes.get(state) ?? { state, count: 0, runIds: [] };
    known.count += 1;
    if (known.runIds.length < outcomeIdsShown) known.runIds.push(id);
    outcomes.set(state, known);
  }
  return [...outcomes.values()];
}

/** Null for a claim that an earlier version made. */
export function readBulkNote(text: string | null): BulkNote | null {
  const note = text === null ? null : (fromJson(text) as Partial<BulkNote> | null);
  return note?.order === undefined || note.progress === undefined ? null : (note as BulkNote);
}

/** As others see it: it is at work while its process says so, and will be taken up again when that fell silent. */
export function toldOfBulk({ progress }: BulkNote, leaseUntil: number | null, now: number): BulkProgress {
  if (progress.state === "failed") return progress;
  if (leaseUntil !== null && leaseUntil > now) return { ...progress, state: "running" };
  return { ...progress, state: "interrupted", error: "the process that did it is gone; another goes on with it soon" };
}

/** An earlier version did it, and wrote nothing beside its claim. */
export const unknownHere = (id: string, startedAt: number): BulkProgress => ({
  id,
  action: null,
  filter: {},
  reason: "",
  state: "interrupted",
  matchedCount: 0,
  doneCount: 0,
  skippedCount: 0,
  leftOut: [],
  outcomes: null,
  pace: null,
  failedCount: 0,
  failures: [],
  error: "the process that did it is gone: send the same request again to finish it",
  startedAt,
  endedAt: null,
});
