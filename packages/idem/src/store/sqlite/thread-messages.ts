// What passes between the caller's thread and the store's. Calls and answers are packed (wire.ts).
import type { StoreReads } from "../reads.ts";
import type { CallAnswer } from "./core.ts";

export interface ThreadInput {
  readonly path: string;
  readonly owner: string;
  readonly synchronous: "NORMAL" | null;
}

export type ToThread =
  | { readonly kind: "commit"; readonly batch: number; readonly calls: readonly (readonly unknown[])[] }
  | { readonly kind: "read"; readonly id: number; readonly name: keyof StoreReads; readonly input: readonly unknown[] }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "open"; readonly answer: CallAnswer }
  | { readonly kind: "committed"; readonly batch: number; readonly answers: readonly unknown[] }
  /** The disk refused: nothing of the batch can be trusted, and the store is closed. */
  | { readonly kind: "broken"; readonly answer: CallAnswer }
  | { readonly kind: "read"; readonly id: number; readonly answer: CallAnswer }
  | { readonly kind: "closed" };
