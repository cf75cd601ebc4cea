// Several processes over one store. Each finds by looking what the others did; hints only make it sooner.
//
//   a process commits ──▶ the store tells the others ──▶ they look now
//                   └──── the hint is lost ───────────▶ they look within pollMs
//
// So a lost hint costs time and never correctness: whatever a hint says is asked of the store before it is acted on.
import type { StoreHistory } from "./history.ts";

/**
 * Something another process changed. Of the process's own commits it knows by their answers. An `env` of "" is every environment: what a
 * sweep rescued may be anybody's.
 */
export type StoreHint =
  /** Due work was left for a lease. */
  | { readonly env: string; readonly kind: "queued" }
  /** There is news for a run that this worker holds: an outcome, or its end. */
  | { readonly env: string; readonly kind: "collect"; readonly runId: string; readonly worker: string }
  /** Functions were registered, paused or resumed. */
  | { readonly env: string; readonly kind: "registered" }
  /** Something was left in a channel. */
  | { readonly env: string; readonly kind: "published"; readonly channel: string };

export interface StoreSharing {
  /** A process may wait this long before it looks again; at most a second is waited. */
  readonly pollMs: number;
  /** Sentences about the server, for the log of a process that starts over it. */
  readonly toTell?: readonly string[];
  /** The answer ends the subscription. */
  subscribe(listener: (hint: StoreHint) => void): () => void;
  /**
   * Resolves once what was read before would outlive the server it was read from, as a commit of one's own would: for callers that
   * answer for good from what another process wrote. Where commits wait for no standby that is at once.
   */
  stand(): Promise<void>;
  /** Reports when the store lost acknowledged writes; absent where it cannot happen while a process has the store. */
  readonly history?: StoreHistory;
  /**
   * Starts the heartbeat thread and returns at once: a lease can be posted to it in the turn that starts it, and it renews that lease without
   * any reply of the main thread. Throws if no thread can be started. Absent where only the main thread can beat.
   */
  beats?(options: BeatsOptions): Beats;
}

export const nodeRoles = ["all", "api", "worker"] as const;

/** `api` answers requests and executes nothing; `worker` executes and answers none; `all` does both. */
export type NodeRole = (typeof nodeRoles)[number];

/** A worker's description of its process. */
export interface WorkerAbout {
  readonly node: string;
  readonly version: string;
  readonly role: NodeRole;
}

export interface WorkerRow {
  readonly id: string;
  /** Null for a worker that said nothing about itself. */
  readonly node: string | null;
  readonly version: string | null;
  readonly role: NodeRole | null;
  readonly startedAt: number;
  /** Null for one that was never heard of. */
  readonly beatAt: number | null;
  /** Its lease lasts until then. */
  readonly until: number;
  /** Declared lost, or gone by itself; its row is kept for a while. */
  readonly isDead: boolean;
  /** Number of jobs it holds, in all environments. */
  readonly leased: number;
}

// ------------------------------------------------------------------------------------------------ beats from beside the main thread

export interface BeatsOptions {
  readonly termMs: number;
  /** A main thread that shows no life for longer loses its leases (model/beats.ts). */
  readonly blockedMaxMs: number;
  readonly about?: WorkerAbout | undefined;
  /** The thread has connected. Only a report: leases are renewed whether it was handled or not. */
  readonly onOpen: () => void;
  /** The thread ended, or could not connect: the holder of the leases beats by itself from here on. Until this returns, `last` answers. */
  readonly onTrouble: (error: unknown) => void;
}

export interface Beat {
  /** By the process's steady clock. */
  readonly askedMono: number;
  /** `dead`: declared lost by others. `lapsed`: not heard of in time, and no longer extended. */
  readonly state: "held" | "dead" | "lapsed";
}

/** Extends leases while the main thread is busy. */
export interface Beats {
  /** From here on the lease of this worker is extended; it was heard of at that time. Said again, it was heard of anew. */
  hold(worker: string, askedMono: number): void;
  drop(worker: string): void;
  /** The last beat that was heard; null for a worker that is not extended here. May be asked in the middle of anything. */
  last(worker: string): Beat | null;
  close(): Promise<void>;
}
