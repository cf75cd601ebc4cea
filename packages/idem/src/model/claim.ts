// Idem's one primitive: a key taken in a scope for a window. Later askers receive the first asker's outcome.
import { isOpen } from "./window.ts";

export type ClaimState = "in-flight" | "settled" | "released";

export interface Claim {
  readonly scope: string;
  readonly key: string;
  /** Its taker: an event, a run, or a caller's token. */
  readonly holder: string;
  /** Grows each time the claim changes hands; an older fence may no longer write. */
  readonly fence: number;
  /** Names the window; see Run.generation. */
  readonly generation: string;
  readonly state: ClaimState;
  readonly fingerprint: string | null;
  readonly takenAt: number;
  /** While in flight: until when the holder may be trusted to be alive. */
  readonly leaseUntil: number | null;
  readonly endsAt: number;
  readonly held: boolean;
  /** Times it was asked for, the first included. On PostgreSQL it may be one second behind (store/postgres/duplicate-counts.ts). */
  readonly asked: number;
  readonly lastAskedAt: number;
  /** Once settled. While in flight: what its holder noted beside it. */
  readonly outcome: string | null;
}

export type ClaimAnswer =
  | {
      readonly kind: "fresh";
      readonly fence: number;
      readonly endsAt: number;
      readonly generation: string;
      /** When its window was opened: by this asking, or by a holder that went silent. */
      readonly since: number;
      /** Written beside it by the one that opened it, or extended it last. */
      readonly note: string | null;
    }
  | { readonly kind: "duplicate"; readonly outcome: string; readonly endsAt: number; readonly generation: string }
  | { readonly kind: "in-flight"; readonly since: number; readonly leaseUntil: number | null }
  | { readonly kind: "mismatch"; readonly since: number };

/** Ids that senders give their events, by any way but webhooks. */
export const eventScope = "event";
/** Ids of deliveries whose signature was checked. Nothing else asks for a key in here, so nobody can take a delivery's id before it comes. */
export const webhookScope = "webhook";
export type EventIdScope = typeof eventScope | typeof webhookScope;
/** A sender's id may stand in either; a look-up believes the one that cannot be forged. */
export const eventIdScopes: readonly EventIdScope[] = [webhookScope, eventScope];
export const functionScope = (fn: string): string => `fn:${fn}`;

/** The instant an operation happens at, by the store's clock. */
export interface Instant {
  readonly now: number;
  /**
   * The clock by which a window opened at `takenAt` is judged: behind `now` by every sudden step of the wall clock since then,
   * for that time was not lived. Of 0: by which every window that is over is over, whenever it was opened.
   */
  windowNow(takenAt: number): number;
  /** The clock workers' leases are judged by: behind `now` for a moment after such a step, so that the living can say so. */
  readonly leaseNow: number;
}

export interface ClaimAsk {
  readonly scope: string;
  readonly key: string;
  readonly holder: string;
  /** The name of the window if this asking opens one. */
  readonly generation: string;
  readonly windowMs: number;
  readonly held: boolean;
  readonly fingerprint: string | null;
  readonly leaseMs: number | null;
  readonly note?: string | null;
}

/** Whether an asker for the key would be second now: its window is open, and it was not given back. */
export const isTaken = (claim: Pick<Claim, "state" | "endsAt" | "held">, now: number): boolean =>
  claim.state !== "released" && isOpen(claim, now);

/** An event asks for the id its sender gave it. */
export const eventIdAsk = (
  {
    id,
    windowMs,
    idScope = eventScope,
  }: { readonly id: string; readonly windowMs: number; readonly idScope?: EventIdScope },
  callerId: string,
): ClaimAsk => ({
  scope: idScope,
  key: callerId,
  holder: id,
  generation: id,
  windowMs,
  held: false,
  fingerprint: null,
  leaseMs: null,
});

/** A run asks for its function's key. */
export const functionKeyAsk = (
  { fn, windowMs, hold }: { readonly fn: string; readonly windowMs: number; readonly hold: boolean },
  key: string,
  runId: string,
): ClaimAsk => ({
  scope: functionScope(fn),
  key,
  holder: runId,
  generation: runId,
  windowMs,
  held: hold,
  fingerprint: null,
  leaseMs: null,
});

/**
 * A claim after somebody asks for its key. The first writer wins; a window that ended by itself is a new one
 * with a new generation; a released key may be taken again but stays in the same generation.
 */
export function askClaim(
  existing: Claim | null,
  ask: ClaimAsk,
  at: Instant,
  state: ClaimState = "in-flight",
): { taken: boolean; claim: Claim } {
  const open = existing !== null && isOpen(existing, at.windowNow(existing.takenAt));
  if (open && existing.state !== "released") {
    return { taken: false, claim: { ...existing, asked: existing.asked + 1, lastAskedAt: at.now } };
  }
  const claim: Claim = {
    scope: ask.scope,
    key: ask.key,
    holder: ask.holder,
    fence: (existing?.fence ?? 0) + 1,
    generation: open ? existing.generation : ask.generation,
    state,
    fingerprint: ask.fingerprint,
    takenAt: at.now,
    leaseUntil: ask.leaseMs === null ? null : at.now + ask.leaseMs,
    endsAt: at.now + ask.windowMs,
    held: ask.held,
    asked: open ? existing.asked + 1 : 1,
    lastAskedAt: at.now,
    outcome: ask.note ?? null,
  };
  return { taken: true, claim };
}

/**
 * An asker that waited for a key's lock began before the one that had it, and has an older instant: the key is judged no earlier than it was
 * taken, or a window that is over would look like one that is yet to begin. Where one writer is at work nobody waits, and nothing is late.
 */
export function askFor(
  at: Instant,
  found: Claim | null,
  ask: ClaimAsk,
  state: ClaimState = "in-flight",
): { taken: boolean; claim: Claim } {
  const lateMs = found === null ? 0 : found.takenAt - at.now;
  if (lateMs <= 0) return askClaim(found, ask, at, state);
  const later = { ...at, now: at.now + lateMs, windowNow: (takenAt: number) => at.windowNow(takenAt) + lateMs };
  return askClaim(found, ask, later, state);
}
