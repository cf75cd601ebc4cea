// What the outside world saw, written down by someone who is never crashed: acknowledgements, entered steps, values handed to
// the code, ends, and what was done to whom. Times are the world's. Plain facts; check-guarantees.ts judges them.
import type { Drift } from "./store-clock.ts";

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
  /** How the body ended; null when it never did. */
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

export interface Ledger {
  readonly sends: Send[];
  readonly entries: Entry[];
  readonly handed: Handed[];
  readonly slept: Slept[];
  readonly ends: { readonly at: number; readonly run: string; readonly state: string; readonly output: string }[];
  readonly cancels: { readonly at: number; readonly run: string; readonly process: string; readonly won: boolean }[];
  readonly reruns: { readonly of: string; readonly run: string }[];
  /** A process ended: killed, crashed or stopped. */
  readonly lostProcesses: { readonly at: number; readonly process: string }[];
  /** A living process lost its leases: its heartbeat came too late, or it gave them back. */
  readonly lostLeases: { readonly at: number; readonly process: string }[];
  /** A process stood still: what was on its way to it lay waiting. */
  readonly freezes: { readonly process: string; readonly from: number; readonly to: number }[];
  /** When the commit that stored an event took effect, by the event's id. */
  readonly stored: Map<string, number>;
  readonly storeClockDrifts: readonly Drift[];
}

export const newLedger = (storeClockDrifts: readonly Drift[]): Ledger => ({
  sends: [],
  entries: [],
  handed: [],
  slept: [],
  ends: [],
  cancels: [],
  reruns: [],
  freezes: [],
  lostProcesses: [],
  lostLeases: [],
  stored: new Map(),
  storeClockDrifts,
});

/** For how long the process stood still between two moments. */
export const frozenMs = ({ freezes }: Pick<Ledger, "freezes">, process: string, from: number, to: number): number =>
  freezes
    .filter((freeze) => freeze.process === process)
    .reduce((sum, freeze) => sum + Math.max(0, Math.min(freeze.to, to) - Math.max(freeze.from, from)), 0);
