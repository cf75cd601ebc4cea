// Where the records of idempotency keys are kept. One contract, several stores behind it (a user's PostgreSQL or SQLite, memory, the
// engine's own store), one suite that checks them all and is exported for stores of others.
//
//   ABSENT ──claim──▶ RUNNING, lease alive ──complete──▶ COMPLETED ──claim──▶ the outcome again, until the window ends
//     ▲                 │  ▲   │  └─release─▶ ABSENT       (or GONE: it happened, and cannot be told again)
//     │ window ended    │  │   └─park─▶ PARKED ──resolve─▶ COMPLETED or ABSENT, by a person
//     └─────────────────┘  └── claim of a dead lease, by onCrash: resume or rerun (fence + 1), or park
//
// The database's clock decides leases and windows. A fingerprint that differs is a mismatch in every state. A write that does not carry
// the current owner and fence changes nothing and says `lost`. Every call may be made twice: a claim knows its own owner again.

import type { Held } from "../claim/decide-claim.ts";

/** The fate of a key whose claimant died: the author's choice, for a silent rerun is the double charge. */
export type OnCrash = "resume" | "rerun" | "park";

export interface Fingerprint {
  /** The algorithm it was made with. A record is compared by the one it was written with. */
  readonly version: number;
  /** 64 hex digits. */
  readonly value: string;
}

/** For people who look at the record; none of it is read by the store. */
export interface KeyAbout {
  readonly namespace: string;
  readonly tenant: string | null;
  readonly principal: string;
  readonly method: string;
  readonly path: string;
  /** Of the key itself only the first 8 hex digits of the record's id are kept and logged. */
  readonly hint: string;
}

/** Where the work of a record goes on when its claimant died: the last point it reached, and what it knew there. */
export interface Point {
  readonly name: string;
  /** JSON. */
  readonly data: string;
}

/** Lets a completer go on with a record nobody asks for any more. */
export interface KeyWork {
  /** The name of the list of phases. */
  readonly name: string;
  /** JSON. */
  readonly input: string;
}

export interface KeyAsk {
  /** SHA-256 of everything that makes two requests the same one, as 64 hex digits. */
  readonly id: string;
  /** Random, made before the first try: asking again with the same owner is the same asking. */
  readonly owner: string;
  /** By every algorithm this process knows; the first is written. */
  readonly fingerprints: readonly [Fingerprint, ...Fingerprint[]];
  readonly leaseMs: number;
  /** While it runs, the record is kept for this long at least; completion sets the window anew. */
  readonly windowMs: number;
  readonly onCrash: OnCrash;
  readonly about: KeyAbout;
  readonly work: KeyWork | null;
}

export interface StoredResponse {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  /** Null: no body at all, which is not an empty one. */
  readonly body: Uint8Array | null;
}

export type KeyOutcome =
  | ({ readonly kind: "response" } & StoredResponse)
  /** The body is elsewhere, or made again from a reference: the author's `get` or `rebuild` knows. */
  | {
      readonly kind: "reference";
      readonly status: number;
      readonly headers: StoredResponse["headers"];
      readonly reference: string;
    }
  /** It happened, but its response cannot be replayed. */
  | { readonly kind: "gone"; readonly status: number; readonly reason: string };

export type KeyAnswer =
  | {
      readonly kind: "fresh";
      readonly fence: number;
      /** From 1; more than one when an earlier claimant died or left the work for later. */
      readonly attempt: number;
      readonly point: Point | null;
    }
  | {
      readonly kind: "duplicate";
      readonly outcome: KeyOutcome;
      readonly completedAt: number;
      readonly endsAt: number;
    }
  | { readonly kind: "in-flight"; readonly since: number; readonly leaseLeftMs: number; readonly ageMs: number }
  | { readonly kind: "mismatch"; readonly ageMs: number }
  | { readonly kind: "parked"; readonly reason: string; readonly ageMs: number };

/** The claimant, as the claim answered. */
export interface KeyHolder {
  readonly id: string;
  readonly owner: string;
  readonly fence: number;
}

export interface KeyRecord {
  readonly id: string;
  readonly about: KeyAbout;
  readonly state: "running" | "parked" | "completed";
  readonly fence: number;
  readonly attempts: number;
  /** By the database's clock, when it was read. */
  readonly isLeased: boolean;
  readonly point: Point | null;
  readonly work: KeyWork | null;
  readonly outcome: KeyOutcome | null;
  readonly parkedReason: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly endsAt: number;
}

export type Resolution =
  /** It happened after all: the answer to everybody who asks again. */
  | { readonly kind: "response"; readonly response: StoredResponse; readonly windowMs: number }
  /** It did not happen, or may happen again: the next asker executes; work with a name or a point goes on there. */
  | { readonly kind: "retry" }
  | { readonly kind: "forget" };

export type Resolved = "resolved" | "not-parked" | "unknown";

export interface KeyStore {
  /** Promise: one `fresh` per fence; nobody executes without one. Repeat, with the same owner: the same answer. */
  claim(ask: KeyAsk): Promise<KeyAnswer>;
  /** Extends the lease; a dead one too, as long as nobody took over, but not one that was left. */
  heartbeat(holder: KeyHolder, leaseMs: number): Promise<Held>;
  /** Records the outcome; its window begins now. Repeat: `held` again. */
  complete(holder: KeyHolder, outcome: KeyOutcome, windowMs: number): Promise<Held>;
  /** A recovery point outside of a transaction of the user's: what an effect answered. Extends the lease, too. */
  reach(holder: KeyHolder, point: Point, leaseMs: number): Promise<Held>;
  /** Nothing happened: the key is free. Repeat: `held` again, unless somebody else has it by now. */
  release(holder: KeyHolder): Promise<Held>;
  /**
   * Goes on later, at the last point: the lease ends now, the next asker goes on whatever its `onCrash` says, for nobody died, and a
   * completer looks again after `delayMs`. Work that was finished after all may still be completed, until somebody goes on.
   */
  leave(holder: KeyHolder, delayMs: number): Promise<Held>;
  /** A person has to decide. */
  park(holder: KeyHolder, reason: string): Promise<Held>;

  read(id: string): Promise<KeyRecord | null>;
  /** Parked ones, oldest first; `after` is the last id of the page before. Once that one is forgotten, the pages begin anew without it. */
  parked(page: { readonly limit: number; readonly after: string | null }): Promise<readonly KeyRecord[]>;
  /** Work of this name whose claimant is gone and whose time has come, claimed for this owner: for the completer. */
  takeUnfinished(input: {
    readonly work: string;
    readonly owner: string;
    readonly leaseMs: number;
    readonly limit: number;
  }): Promise<readonly { readonly record: KeyRecord; readonly fence: number; readonly attempt: number }[]>;
  resolve(id: string, resolution: Resolution): Promise<Resolved>;
  /**
   * Frees space; correctness never waits for it. Promise: no live lease, no parked record and no unfinished work is touched, and at most
   * `limit` rows go. Repeat: gone stays gone.
   */
  reap(limit: number): Promise<number>;
}
