// Messages between the caller's thread and the store's. Calls and answers are packed (wire.ts).
import type { FileIdentity } from "../../platform/node-files.ts";
import type { StoreReads } from "../reads.ts";
import type { CallAnswer } from "./calls.ts";
import type { Spell } from "./patience.ts";

// Bounded batches overlap the two threads: 11,800 → 13,700 runs/s at 1,000 in flight (docs/reference/stores.md#batches); below ~100 it costs.
export const batchCallsMax = 300;
/** Calls that may be with the thread at once: those of a commit, and as many that the next one finds there. */
export const postedCallsMax = 2 * batchCallsMax;

export interface ThreadInput {
  readonly path: string;
  readonly owner: string;
  readonly synchronous: "NORMAL" | null;
  /** Shorter in tests. */
  readonly patience: { readonly waitMsMax: number; readonly tellAfterMs: number } | null;
}

/** A file that is open, and what its name led to then. */
export interface OpenFile {
  readonly path: string;
  readonly identity: FileIdentity;
}

/** What the thread says once the store is open: its files, so that a second handle can tell that it has the same. */
export interface OpenedStore {
  readonly path: string;
  readonly files: readonly OpenFile[];
  /** What the file lost, if it is older than it was when it was open last. */
  readonly rollback: string | null;
}

export type ToThread =
  | { readonly kind: "commit"; readonly calls: readonly (readonly unknown[])[] }
  | { readonly kind: "read"; readonly id: number; readonly name: keyof StoreReads; readonly input: readonly unknown[] }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "open"; readonly answer: CallAnswer }
  /** Those calls that were posted first and not answered yet, as many as there are answers. */
  | { readonly kind: "committed"; readonly answers: readonly unknown[] }
  /** So many calls: nothing of them was stored, or whether it was is unknown: the answer says which. The store goes on. */
  | { readonly kind: "refused"; readonly calls: number; readonly answer: CallAnswer }
  /** Something a person should know. */
  | { readonly kind: "spell"; readonly spell: Spell }
  /** Nothing is committed any more. `isCopied`: what was is being copied, and `copied` follows. */
  | { readonly kind: "broken"; readonly answer: CallAnswer; readonly isCopied: boolean }
  | { readonly kind: "copied"; readonly answer: CallAnswer; readonly isWhole: boolean }
  /** `ms`: the time that it took there. */
  | { readonly kind: "read"; readonly id: number; readonly answer: CallAnswer; readonly ms: number }
  | { readonly kind: "closed" };

/** To the thread of long reads, which commits nothing. */
export type ToReader = Extract<ToThread, { readonly kind: "read" | "close" }>;
export type FromReader = Extract<FromThread, { readonly kind: "open" | "read" | "closed" }>;
