// What passes between the caller's thread and the store's. Arrays of plain values: structured clone is cheaper than JSON text.
import type { StoreReads } from "../store.ts";
import type { Call, CallAnswer } from "./core.ts";

export interface ThreadInput {
  readonly path: string;
  readonly owner: string;
  readonly synchronous: "NORMAL" | null;
}

export type ToThread =
  | { readonly kind: "commit"; readonly batch: number; readonly calls: readonly Call[] }
  | { readonly kind: "read"; readonly id: number; readonly name: keyof StoreReads; readonly input: readonly unknown[] }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "open"; readonly answer: CallAnswer }
  | { readonly kind: "committed"; readonly batch: number; readonly answers: readonly CallAnswer[] }
  /** The disk refused: nothing of the batch can be trusted, and the store is closed. */
  | { readonly kind: "broken"; readonly answer: CallAnswer }
  | { readonly kind: "read"; readonly id: number; readonly answer: CallAnswer }
  | { readonly kind: "closed" };
