// The ledger's records: one JSON list per line. The processes under test report everything as it happens; nothing is
// asked of the engine afterwards.
import { createHash } from "node:crypto";

export type AckedDecision = readonly [eventId: string, fn: string, kind: string, runId: string | null];

/** Of a step that takes its time: in this lane, if its function has limits. */
export interface Work {
  readonly lane: string | null;
}

export type LedgerRecord =
  /** A process came to life. */
  | readonly ["life", life: number, bornAt: number]
  /** A call is about to be made. */
  | readonly ["try", call: number]
  /** send() answered: the stored events' ids with the hashes of what was given, and the decisions. */
  | readonly ["ack", at: number, call: number, ids: readonly string[], hashes: readonly string[], AckedDecision[]]
  /** An event outside the numbered calls was acknowledged (an approval a run waits for). */
  | readonly ["ack-other", at: number, id: string, hash: string]
  | readonly ["enter", at: number, run: string, step: string, attempt: number, key: string, work?: Work]
  /** The process stood still on its way from the engine's last look at its lease to this step, for longer than the lease has to spare. */
  | readonly ["late", run: string, step: string]
  /** The code received a step's value, or its error. */
  | readonly ["value", at: number, run: string, step: string, hash: string]
  | readonly ["asked-sleep", at: number, run: string, ms: number]
  | readonly ["woke", at: number, run: string]
  /** A client saw the run's end. */
  | readonly ["end", run: string, state: string, hash: string]
  /** A client's cancel was answered. */
  | readonly ["cancel", run: string, won: boolean]
  /** A step that takes its time is over, or was asked to stop. */
  | readonly ["left", at: number, run: string]
  /** The ledger's own: what follows was told by this speaker. */
  | readonly ["from", speaker: string]
  /** The torturer's: what it did. Calm means that it did nothing else until others had time to take over. */
  | readonly ["fault", at: number, kind: string, node: string | null, isCalm: boolean];

/** A new life's knowledge of the lives before it. */
export interface Greeting {
  /** The first call nobody tried yet. */
  readonly next: number;
  /** Tried, and never answered. */
  readonly unanswered: readonly number[];
  /** Runs whose event was acknowledged and whose end no client has seen: run, call, index of the event. */
  readonly unended: readonly (readonly [run: string, call: number, index: number])[];
  readonly ackedCount: number;
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);
