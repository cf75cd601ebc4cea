// Messages between the caller's thread and the store's. Calls and answers are packed (wire.ts).
import type { StoreReads } from "../reads.ts";
import type { CallAnswer } from "./calls.ts";
import type { Spell } from "./patience.ts";

export interface ThreadInput {
  readonly path: string;
  readonly owner: string;
  readonly synchronous: "NORMAL" | null;
  /** Shorter in tests. */
  readonly patience: { readonly waitMsMax: number; readonly tellAfterMs: number } | null;
}

export type ToThread =
  | { readonly kind: "commit"; readonly batch: number; readonly calls: readonly (readonly unknown[])[] }
  | { readonly kind: "read"; readonly id: number; readonly name: keyof StoreReads; readonly input: readonly unknown[] }
  | { readonly kind: "close" };

export type FromThread =
  | { readonly kind: "open"; readonly answer: CallAnswer }
  | { readonly kind: "committed"; readonly batch: number; readonly answers: readonly unknown[] }
  /** Nothing of the batch was stored, or whether it was is unknown: the answer says which. The store goes on. */
  | { readonly kind: "refused"; readonly answer: CallAnswer }
  /** Something a person should know. */
  | { readonly kind: "spell"; readonly spell: Spell }
  /** Nothing is committed any more. `isCopied`: what was is being copied, and `copied` follows. */
  | { readonly kind: "broken"; readonly answer: CallAnswer; readonly isCopied: boolean }
  | { readonly kind: "copied"; readonly answer: CallAnswer; readonly isWhole: boolean }
  | { readonly kind: "read"; readonly id: number; readonly answer: CallAnswer }
  | { readonly kind: "closed" };
