// The condition of a start: a claim of its own scope, held as long as its run is open and not a moment longer.
import { type ClaimAsk, functionKeyAsk } from "../../model/claim.ts";
import { serializeError } from "../../model/user-errors.ts";
import type { FlowOf, OwnKey } from "../plan-keys.ts";

/** At most one open run for this key. */
export type SingletonRule =
  | { readonly key: string; readonly mode: "skip" }
  /** `result`: the error the cancelled run ends with; `releaseKey`: it gives its function key back. */
  | { readonly key: string; readonly mode: "cancel"; readonly result: string; readonly releaseKey?: boolean };

export function planSingleton({ runId, config }: FlowOf, ownKey: OwnKey): SingletonRule | null {
  const { id, singleton, idempotency } = config;
  if (singleton === undefined) return null;
  const key = ownKey("singleton.key", singleton.key);
  if (key === null) return null;
  if (singleton.mode === "skip") return { key, mode: "skip" };
  const newer = runId === undefined ? "a newer run" : `run ${runId}, a newer one`;
  const reason = new Error(`cancelled by ${newer} of the singleton function "${id}"`);
  return {
    key,
    mode: "cancel",
    result: serializeError(Object.assign(reason, { name: "CancelledError", stack: undefined })),
    releaseKey: idempotency?.afterFailure === "release",
  };
}

/** At most one open run of a function for each key in here. */
export const singletonScope = (fn: string): string => `singleton:${fn}`;

export const isSingletonScope = (scope: string): boolean => scope.startsWith(singletonScope(""));

/** A run asks to be the only open one of its key. */
export const singletonAsk = (fn: string, key: string, runId: string): ClaimAsk => ({
  ...functionKeyAsk({ fn, windowMs: 0, hold: true }, key, runId),
  scope: singletonScope(fn),
});

export const singletonTaken = (holder: string): string => `run ${holder} of the same singleton key is still open`;
