// The things a world's outside holds, and the record a world leaves to be judged. Plain data: it crosses from a thread to the command.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A line of the user's. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Something a destination holds at a world's end. */
export interface Thing {
  /** The watcher that sees it: "http", "mail", "files", "events". */
  readonly watcher: string;
  /** A host, a mail server, a folder. */
  readonly destination: string;
  /** Its place: the path's segments, a folder's, an event's name. */
  readonly path: readonly string[];
  /** Whether the path says which one it is (a PUT, a file), or many may stand there (a POST). */
  readonly isAddressed: boolean;
  readonly state: Json;
  /** The function whose code made it last; null where that is unknown. */
  readonly by: string | null;
  /** The effect that made or changed it last, counted from 1; of an event that was sent, a negative number; 0 where none is watched. */
  readonly effect: number;
  /** Fields of the state that the destination made up. */
  readonly made: readonly string[];
}

/** An effect that left the user's code, or would have. */
export interface SeenEffect {
  /** Counted from 1 in the world. */
  readonly index: number;
  readonly watcher: string;
  /** "POST api.stripe.com/v1/invoices". */
  readonly title: string;
  readonly at: number;
  /** Which process, counted from 1. */
  readonly life: number;
  readonly fn: string | null;
  readonly runId: string | null;
  readonly step: string | null;
  /** Its step or its run was over when it left. */
  readonly isLate: boolean;
  readonly place: Place | null;
  /** The idempotency key that was sent. */
  readonly key: string | null;
  /** It carried a key that the destination had known, and had forgotten by then. */
  readonly isForgotten: boolean;
  readonly became: "happened" | "answered-before" | "never-left" | "refused" | "lost";
}

export interface WorldRun {
  readonly id: string;
  readonly fn: string;
  readonly state: string;
  readonly error: string | null;
  readonly isRerun: boolean;
}

export interface Divergence {
  readonly step: string;
  readonly asked: string | null;
}

export interface Moment {
  readonly at: number;
  readonly text: string;
}

export interface RecordedAnswer {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly status?: number;
  readonly body?: Json;
}

/** A field that the user's code read of an answer which a destination's model made up, and that is not there. */
export interface AbsentField {
  readonly method: string;
  readonly host: string;
  /** Of the request; ids stand for any. */
  readonly path: string;
  /** Its path in the answer: "customer.plan". */
  readonly field: string;
  readonly place: Place;
  /** The code goes on with it; otherwise it only asked whether it is there. */
  readonly isUsed: boolean;
}

export interface WorldRecord {
  readonly schedule: string;
  readonly seed: number;
  /** Of the schedule's adversities, by their names: those that did not happen. */
  readonly notHappened: readonly string[];
  readonly runs: readonly WorldRun[];
  /** Runs that failed or were cancelled were rerun after everything was healed. */
  readonly wasRerun: boolean;
  /** An event came when the window of the key, or of its id, was over: running again is right. */
  readonly isPastWindow: boolean;
  readonly isOpen: boolean;
  /** Effects of `step.effect` that are not sent again before a person said what became of them. */
  readonly parked: readonly string[];
  readonly things: readonly Thing[];
  readonly effects: readonly SeenEffect[];
  /** Events that functions sent; their numbers are negative. */
  readonly sent: readonly SeenEffect[];
  /** Ids that destinations made up. */
  readonly madeIds: readonly string[];
  /** Answers of hosts that were really asked. */
  readonly recorded?: readonly RecordedAnswer[];
  readonly commits: { readonly before: number; readonly after: number };
  /** Of the commits, by their numbers: those before which the function's code ran. */
  readonly commitsOfCode: readonly number[];
  readonly steps: readonly string[];
  readonly hasWaits: boolean;
  readonly divergences: readonly Divergence[];
  readonly unproven: readonly string[];
  readonly absent: readonly AbsentField[];
  /** Taken for true without proof. */
  readonly assumptions: readonly string[];
  /** Where clock and chance were read outside steps, if somebody looked. */
  readonly drawn: readonly { readonly what: "clock" | "chance"; readonly place: Place }[];
  readonly timeline: readonly Moment[];
  readonly lifeCount: number;
  readonly tookMs: number;
}
