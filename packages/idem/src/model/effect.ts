// An effect: something a step did to a system outside, recorded. It is a claim of its destination key, in a scope that names the
// destination and the entity it is about; so two effects for one entity stand side by side.
import type { Claim } from "./claim.ts";

/** Every scope of effects begins so. */
export const effectScopes = "effect:";
/** Names of destinations have no colon, entities may. */
export const effectScope = (destination: string, entity: string): string => `${effectScopes}${destination}:${entity}`;

/** The request of the step, kept as its input: where its claim is. */
export interface EffectAsked {
  readonly destination: string;
  readonly entity: string;
  readonly key: string;
}

/** Null for an input that is not that of an effect. */
export function readAsked(input: string): EffectAsked | null {
  const asked = JSON.parse(input) as Partial<EffectAsked> | null;
  const { destination, entity, key } = typeof asked === "object" && asked !== null ? asked : {};
  if (typeof destination !== "string" || typeof entity !== "string" || typeof key !== "string") return null;
  return { destination, entity, key };
}

/** Kept beside the claim until it is settled. */
export interface EffectNote {
  readonly runId: string;
  readonly step: string;
  /** The attempt that tried first. To any other it says that something may have been sent before. */
  readonly by: string;
  readonly triedAt: number;
  readonly tries: number;
  /** Set when nobody may send it again before a person said what became of it. */
  readonly parked?: string;
}

/** The outcome of the claim. */
export interface EffectOutcome {
  readonly runId: string;
  readonly step: string;
  readonly receipt: string | null;
  /** JSON text of what the callback returned; null when it could not be kept. */
  readonly value: string | null;
  /** By its destination's answer, by the author's look-up, or by a person. */
  readonly by: "answer" | "reconcile" | "person";
  readonly at: number;
  readonly tries: number;
  readonly reason?: string;
}

export type EffectState =
  /** Sent, with a receipt if its author gave one. */
  | "sent"
  /** Somebody is at it. */
  | "in-flight"
  /** Tried, and nobody knows what became of it; it may be tried again. */
  | "unknown"
  /** The same, and it is not sent again by itself. */
  | "parked";

export interface Effect {
  /** For `resolve`. */
  readonly id: string;
  readonly destination: string;
  readonly entity: string;
  /** The key that was sent. */
  readonly key: string;
  readonly state: EffectState;
  readonly receipt: string | null;
  readonly runId: string;
  readonly step: string;
  readonly firstTriedAt: number;
  readonly tries: number;
  /** When it was settled; null before. */
  readonly settledAt: number | null;
  /** By whom it was settled; null before. */
  readonly settledBy: EffectOutcome["by"] | null;
  /** Why it is parked, or the reason of the person who settled it. */
  readonly reason: string | null;
}

export const effectId = (scope: string, key: string): string => `${scope.slice(effectScopes.length)}:${key}`;

/** Null for what cannot be an id. Keys have no colon. */
export function claimOfEffect(id: string): { readonly scope: string; readonly key: string } | null {
  const last = id.lastIndexOf(":");
  if (last <= id.indexOf(":")) return null;
  return { scope: `${effectScopes}${id.slice(0, last)}`, key: id.slice(last + 1) };
}

export const noteText = (note: EffectNote): string => JSON.stringify(note);
export const outcomeText = (outcome: EffectOutcome): string => JSON.stringify(outcome);
export const readNote = (text: string): EffectNote => JSON.parse(text) as EffectNote;
export const readOutcome = (text: string): EffectOutcome => JSON.parse(text) as EffectOutcome;

/** Null for one that was refused or given back: nothing happened. */
export function effectOf(claim: Claim, now: number): Effect | null {
  if (claim.state === "released" || claim.outcome === null) return null;
  const { scope, key } = claim;
  const named = scope.slice(effectScopes.length);
  const colon = named.indexOf(":");
  const base = {
    id: effectId(scope, key),
    destination: named.slice(0, colon),
    entity: named.slice(colon + 1),
    key,
    firstTriedAt: claim.takenAt,
  };
  if (claim.state === "settled") {
    const { runId, step, receipt, tries, at, by, reason = null } = readOutcome(claim.outcome);
    return { ...base, state: "sent", receipt, runId, step, tries, settledAt: at, settledBy: by, reason };
  }
  const { runId, step, tries, parked } = readNote(claim.outcome);
  const isHeld = claim.leaseUntil !== null && now < claim.leaseUntil;
  const state = isHeld ? "in-flight" : parked === undefined ? "unknown" : "parked";
  const open = { receipt: null, settledAt: null, settledBy: null };
  return { ...base, ...open, state, runId, step, tries, reason: isHeld ? null : (parked ?? null) };
}
