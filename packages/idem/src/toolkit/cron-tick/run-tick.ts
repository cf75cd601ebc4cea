// One call about one tick: claim, run under the lease, record what came of it.
import { fromJson, toJson } from "../../model/json.ts";
import type { Platform } from "../../platform/platform.ts";
import { newOwner } from "../claim/claim-operations.ts";
import { type ClaimRow, claim, type claimsIn, extend, leave, park, settle } from "../claim/claims.ts";
import type { InFlight } from "../claim/decide-claim.ts";
import { reasonOf, underLease } from "../claim/work-under-claim.ts";
import { plain } from "../sql/parts.ts";
import { tickKey } from "./due-tick.ts";
import { keptMs, previousTick, reapTicks, tickAt } from "./tick-claims.ts";

export interface Tick {
  /** The scheduled instant. */
  readonly at: Date;
  /** From 1; more when an earlier call died or threw. */
  readonly attempt: number;
  /** Grows with every attempt. */
  readonly fence: number;
  /** Aborts with reason "lease-lost" when somebody else may have taken over. */
  readonly signal: AbortSignal;
  /** The newest tick before this one that anybody ran; ticks between the two were called by nobody. */
  readonly previousAt: Date | null;
  /** For one item of the work, the same on every attempt: an id to insert under, a key for the destination. Without an item, the tick's. */
  key(item?: string): string;
}

export type TickTask<T> = (tick: Tick) => Promise<T> | T;

export type TickAnswer<T> =
  /** By this call. */
  | { readonly kind: "done"; readonly at: Date; readonly attempt: number; readonly value: T }
  /** By an earlier one, and what it returned. */
  | { readonly kind: "duplicate"; readonly at: Date; readonly doneAt: Date; readonly value: T }
  | (InFlight & { readonly at: Date })
  /** Its first call died, and a person decides: `resolve`. */
  | { readonly kind: "parked"; readonly at: Date }
  /** This call was overtaken by another one, whose outcome counts. */
  | { readonly kind: "lost"; readonly at: Date }
  /** No tick is due: the schedule is new, or the instant lies ahead. */
  | { readonly kind: "none" };

export interface RunTickOptions<T> {
  readonly claims: ReturnType<typeof claimsIn>;
  readonly platform: Platform;
  readonly schedule: string;
  readonly leaseMs: number;
  readonly onCrash: "resume" | "park";
  readonly onParked: (at: Date) => void;
  readonly task: TickTask<T>;
}

const died = { reason: plain("coalesce(reason, 'its call died')") };

export async function runTick<T>(options: RunTickOptions<T>, instant: number): Promise<TickAnswer<T>> {
  const { claims, platform, schedule, leaseMs, onCrash, onParked } = options;
  const at = new Date(instant);
  const owner = newOwner(platform);
  const answer = await claims((sql) =>
    claim(sql, { ...tickAt(schedule, instant), owner, leaseMs, windowMs: keptMs, onCrash, died }),
  );
  switch (answer.kind) {
    case "duplicate": {
      const { settledAt, outcome } = answer.row;
      return { kind: "duplicate", at, doneAt: new Date(settledAt!), value: fromJson(outcome!) as T };
    }
    case "in-flight":
      return { ...answer, at };
    case "parked":
      if (answer.isNew) onParked(at);
      return { kind: "parked", at };
    case "fresh":
      return attempt(options, instant, answer.row);
  }
}

async function attempt<T>(options: RunTickOptions<T>, instant: number, row: ClaimRow): Promise<TickAnswer<T>> {
  const { claims, platform, schedule, leaseMs, onCrash, onParked, task } = options;
  const at = new Date(instant);
  let value: T;
  try {
    value = await underLease(
      platform,
      leaseMs,
      () => claims((sql) => extend(sql, row, leaseMs)),
      async (signal) =>
        task({
          at,
          attempt: row.attempts,
          fence: row.fence,
          signal,
          previousAt: await claims(() => previousTick(schedule, instant)),
          key: (item) => tickKey(schedule, instant, item),
        }),
    );
  } catch (error) {
    const reason = reasonOf(error);
    const held = await claims(() => (onCrash === "park" ? park(row, reason) : leave(row, reason)));
    if (held === "held" && onCrash === "park") onParked(at);
    throw error;
  }
  const { text, mistake } = outcomeText(schedule, value);
  if ((await claims((sql) => settle(sql, row, text))) === "lost") return { kind: "lost", at };
  // Done is done, also where what was returned cannot be kept; then the mistake is the author's to see.
  if (mistake !== undefined) throw mistake;
  // Housekeeping; the next tick does it otherwise.
  await claims((sql) => reapTicks(sql, schedule)).catch(() => 0);
  return { kind: "done", at, attempt: row.attempts, value };
}

function outcomeText(schedule: string, value: unknown): { readonly text: string; readonly mistake?: unknown } {
  try {
    return { text: toJson(value ?? null, `The outcome of "${schedule}"`) };
  } catch (mistake) {
    return { text: "null", mistake };
  }
}
