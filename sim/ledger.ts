// The outside world's view, written down by someone who is never crashed: acknowledgements, entered steps, values handed to
// the code, ends, and what was done to whom. Times are the world's. Plain facts; check-guarantees.ts judges them.
import type { CronRow } from "./cron-rows.ts";
import type { Lease } from "./lease-book.ts";
import type { Drift, Shown } from "./store-clock.ts";

export interface SentEvent {
  readonly id: string | null;
  readonly name: string;
  readonly data: string;
}

export interface Send {
  readonly call: number;
  readonly at: number;
  readonly events: readonly SentEvent[];
  acknowledged: {
    readonly at: number;
    readonly ids: readonly string[];
    readonly decisions: readonly {
      readonly eventId: string;
      readonly function: string;
      readonly kind: string;
      readonly runId: string | null;
    }[];
  } | null;
  /** It was told that nothing of it was stored. */
  isRefused: boolean;
}

/** A step's body was entered. */
export interface Entry {
  readonly order: number;
  readonly at: number;
  readonly run: string;
  readonly fn: string;
  readonly step: string;
  readonly process: string;
  readonly attempt: number;
  readonly key: string;
  /** The end of the body; null when it never ended. */
  left: { readonly how: "returned" | "threw"; readonly at: number; readonly value: string } | null;
}

/** A step's value was handed to the function's code. */
export interface Handed {
  readonly order: number;
  readonly at: number;
  readonly run: string;
  readonly step: string;
  readonly process: string;
  readonly value: string;
}

/** A wait for a time: asked for by the code, and over. */
export interface Slept {
  readonly run: string;
  readonly step: string;
  readonly ms: number;
  readonly askedAt: number;
  /** The same moment by the store's clock. */
  readonly askedStoreAt: number;
  overAt: number | null;
}

/** A person paused a function: surely paused from the answer on until it was asked to go on, in the store's time. */
export interface Pause {
  readonly fn: string;
  readonly from: number;
  to: number | null;
}

export interface Ledger {
  readonly sends: Send[];
  readonly entries: Entry[];
  readonly handed: Handed[];
  readonly slept: Slept[];
  readonly ends: { readonly at: number; readonly run: string; readonly state: string; readonly output: string }[];
  readonly cancels: { readonly at: number; readonly run: string; readonly process: string; readonly won: boolean }[];
  /** Runs a person tried to cancel, whatever came of it. */
  readonly cancelsAsked: Set<string>;
  /** When the store cancelled a run that a person asked to cancel, whether or not its answer came. */
  readonly cancelled: Map<string, number>;
  readonly pauses: Pause[];
  /** Events a person released or dropped, as `event function`. */
  readonly redecided: Set<string>;
  readonly leases: readonly Lease[];
  readonly crons: readonly CronRow[];
  /** The process whose call stored an event. */
  readonly storedBy: Map<string, string>;
  /** The processes that leased in one of the store's milliseconds: what was due then was flushed by one of them. */
  readonly leasedAt: Map<number, Set<string>>;
  readonly reruns: { readonly of: string; readonly run: string }[];
  /** A process ended: killed, crashed or stopped. */
  readonly lostProcesses: { readonly at: number; readonly process: string }[];
  /** A living process lost its leases: its heartbeat came too late, or it gave them back. */
  readonly lostLeases: { readonly at: number; readonly process: string }[];
  /** A process stood still: what was on its way to it lay waiting. */
  readonly freezes: { readonly process: string; readonly from: number; readonly to: number }[];
  /** The event loop of a process that stays was blocked, and its other threads were not. */
  readonly blocks: { readonly process: string; readonly from: number; readonly to: number }[];
  /** When the commit that stored an event took effect, by the event's id. */
  readonly stored: Map<string, number>;
  /** Lines a process logged about mistakes of its own code. */
  readonly stumbles: string[];
  readonly storeClockDrifts: readonly Drift[];
  readonly storeClockShown: ReadonlyMap<number, Shown>;
}

export const newLedger = (
  followed: Pick<Ledger, "storeClockDrifts" | "storeClockShown" | "leases" | "crons">,
): Ledger => ({
  sends: [],
  entries: [],
  handed: [],
  slept: [],
  ends: [],
  cancels: [],
  cancelsAsked: new Set(),
  cancelled: new Map(),
  pauses: [],
  redecided: new Set(),
  storedBy: new Map(),
  leasedAt: new Map(),
  reruns: [],
  freezes: [],
  blocks: [],
  lostProcesses: [],
  lostLeases: [],
  stored: new Map(),
  stumbles: [],
  ...followed,
});

/** For how long the process stood still between two moments. */
export const frozenMs = ({ freezes }: Pick<Ledger, "freezes">, process: string, from: number, to: number): number =>
  freezes
    .filter((freeze) => freeze.process === process)
    .reduce((sum, freeze) => sum + Math.max(0, Math.min(freeze.to, to) - Math.max(freeze.from, from)), 0);
