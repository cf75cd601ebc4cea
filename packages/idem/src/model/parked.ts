// A parked run is open and does nothing: a person lets it go on, cancels it or reruns it.

/** Why a run is parked: its code was entered again and again without an outcome, or no longer asks for what is recorded. */
export const parkedKinds = ["entries", "diverged"] as const;
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
