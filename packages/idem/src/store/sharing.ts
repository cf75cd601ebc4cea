// Several processes over one store. Each finds by looking what the others did; hints only make it sooner.
//
//   a process commits ──▶ the store tells the others ──▶ they look now
//                   └──── the hint is lost ───────────▶ they look within pollMs
//
// So a lost hint costs time and never correctness: whatever a hint says is asked of the store before it is acted on.

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
  | { readonly env: string; readonly kind: "registered" };

export interface StoreSharing {
  /** How long a process may wait before it looks again; at most a second is waited. */
  readonly pollMs: number;
  /** The answer ends the subscription. */
  subscribe(listener: (hint: StoreHint) => void): () => void;
  /**
   * Resolves once what was read before would outlive the server it was read from, as a commit of one's own would: for whoever answers
   * for good from what another process wrote. Where commits wait for no standby that is at once.
   */
  stand(): Promise<void>;
}

export const nodeRoles = ["all", "api", "worker"] as const;

/** `api` answers requests and executes nothing; `worker` executes and answers none; `all` does both. */
export type NodeRole = (typeof nodeRoles)[number];

/** What a worker says about the process it is in. */
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
  /** How many jobs it holds, in all environments. */
  readonly leased: number;
}
