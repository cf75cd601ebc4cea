// A run is one life of one function for one key.

export type RunId = string;

export type EndState = "completed" | "failed" | "cancelled";
export const openStates = ["queued", "running", "waiting", "parked"] as const;
export type OpenState = (typeof openStates)[number];
export type RunState = OpenState | EndState;
export const runStates = [...openStates, "completed", "failed", "cancelled"] as const satisfies readonly RunState[];

/** Among what a person put in place of something: the event's data. No step has this id. */
export const dataInput = "";

export interface RerunFrom {
  readonly stepId: string;
  /** The id its author wrote. */
  readonly name: string;
  /** The number of outcomes that came along from the run it reruns: the first ones of its memo. */
  readonly keptCount: number;
}

/**
 * A parked run is open and does nothing: a person lets it go on, cancels it or reruns it. Why: its code was entered again and again without
 * an outcome, no longer asks for what is recorded, or has two steps that claim one id.
 */
export const parkedKinds = ["entries", "diverged", "renamed"] as const;
export type ParkedKind = (typeof parkedKinds)[number];

/** For people. */
export interface ParkReason {
  readonly kind: ParkedKind;
  /** A sentence. */
  readonly reason: string;
}

export interface Parked extends ParkReason {
  readonly at: number;
}

/** Workers lost while they had the run, since it last got on. */
export interface LostWorkers {
  readonly count: number;
  /** The last one. */
  readonly worker: string;
  readonly at: number;
}

export interface Run {
  readonly id: RunId;
  readonly fn: string;
  readonly eventId: string;
  /** The function key this run holds or held, as canonical JSON; null when the function has none or it was missing. */
  readonly key: string | null;
  /** Destination keys are made of it and the generation: the key, else the event's id, else the invoking step's key. */
  readonly subject: string;
  /** Names the window this run belongs to; equal for reruns and after a release, new when a window ended by itself. */
  readonly generation: string;
  /** The run that held the same key before this one. */
  readonly previousRunId: RunId | null;
  readonly rerunOf: RunId | null;
  /** Set on a rerun that began at a step instead of at the start. */
  readonly rerunFrom: RerunFrom | null;
  /** Fingerprint of the code that entered it first (code-fingerprint.ts); null before that, and of runs older than fingerprints. */
  readonly code: string | null;
  readonly state: RunState;
  /** JSON text of the returned value (completed) or of the error (failed, cancelled); null while open. */
  readonly result: string | null;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** When a waiting run is looked at again at the latest. */
  readonly dueAt: number | null;
  /** Why it goes on only when a person lets it; null unless its state is `parked`, or its time is over just now. */
  readonly parked: Parked | null;
  /** Null unless a worker was lost in the middle of it, and nothing was recorded since. */
  readonly lost: LostWorkers | null;
}

/** Where an open run is follows from its job. */
export const openState = (job: {
  readonly leasedBy: string | null;
  readonly dueAt: number | null;
  readonly parkedAt: number | null;
}): OpenState => {
  if (job.leasedBy !== null) return "running";
  if (job.parkedAt !== null) return "parked";
  return job.dueAt === null ? "queued" : "waiting";
};

export const isEnded = (state: RunState): state is EndState =>
  state === "completed" || state === "failed" || state === "cancelled";
