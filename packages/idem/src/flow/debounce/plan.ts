// Kept in a buffer until nothing more comes.
import { instant } from "../../model/decision.ts";
import type { FlowOf, OwnKey } from "../plan-keys.ts";

/** After so long a silence, with the newest event by `ts`; at the latest `timeoutMs` after the first. */
export interface DebounceRule {
  readonly kind: "debounce";
  readonly key: string;
  readonly periodMs: number;
  readonly timeoutMs: number | null;
}

/** A debounce of so many events is over: what it decides in one commit is bounded. */
export const debouncedMax = 10_000;

export function planDebounce({ config: { debounce } }: FlowOf, ownKey: OwnKey): DebounceRule | null {
  if (debounce === undefined) return null;
  const key = ownKey("debounce.key", debounce.key);
  const { periodMs, timeoutMs } = debounce;
  return key === null ? null : { kind: "debounce", key, periodMs, timeoutMs };
}

export const debouncedUntil = (dueAt: number): string => `a run starts at ${instant(dueAt)} unless another event comes`;

export const supersededBy = (eventId: string): string => `superseded by event ${eventId}`;

export const supersededForNothing = (eventId: string, reason: string | null): string =>
  `superseded by event ${eventId}, which started no run: ${reason}`;
