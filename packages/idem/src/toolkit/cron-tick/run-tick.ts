// One call about one tick: claim, run under the lease, record what came of it.
import { toJson } from "../../model/json.ts";
import type { Platform } from "../../platform/platform.ts";
import { keepLease } from "../keep-lease.ts";
import { newOwner } from "../owner-name.ts";
import type { Adapter } from "../sql/adapter.ts";
import { tickKey } from "./due-tick.ts";
import { claimTick, extendTick, finishTick, leaveTick, previousTick, reapTicks, type TickHolder } from "./tick-row.ts";

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
  | { readonly outcome: "done"; readonly at: Date; readonly attempt: number; readonly value: T }
  /** By an earlier one, and what it returned. */
  | { readonly outcome: "duplicate"; readonly at: Date; readonly doneAt: Date; readonly value: T }
  | { readonly outcome: "in-flight"; readonly at: Date; readonly leaseLeftMs: number }
  /** Its first call died, and a person decides: `resolve`. */
  | { readonly outcome: "parked"; readonly at: Date }
  /** This call was overtaken by another one, whose outcome counts. */
  | { readonly outcome: "lost"; readonly at: Date }
  /** No tick is due: the schedule is new, or the instant lies ahead. */
  | { readonly outcome: "none" };

export interface RunTickOptions<T> {
  readonly adapter: Adapter<any>;
  readonly platform: Platform;
  readonly schedule: string;
  readonly leaseMs: number;
  readonly onCrash: "resume" | "park";
  readonly onParked: (at: Date) => void;
  readonly task: TickTask<T>;
}

export async function runTick<T>(options: RunTickOptions<T>, instant: number): Promise<TickAnswer<T>> {
  const { adapter, platform, schedule, leaseMs, onCrash, onParked } = options;
  const at = new Date(instant);
  const owner = newOwner(platform);
  const claim = await adapter.perform(claimTick(adapter.dialect, { schedule, instant, owner, leaseMs, onCrash }));
  switch (claim.kind) {
    case "early":
      return { outcome: "none" };
    case "done":
      return { outcome: "duplicate", at, doneAt: new Date(claim.doneAt), value: claim.value as T };
    case "in-flight":
      return { outcome: "in-flight", at, leaseLeftMs: claim.leaseLeftMs };
    case "parked":
      if (claim.isNew) onParked(at);
      return { outcome: "parked", at };
    case "run":
      return attempt(options, { schedule, instant, owner, fence: claim.fence }, claim.attempt);
  }
}

async function attempt<T>(options: RunTickOptions<T>, holder: TickHolder, number: number): Promise<TickAnswer<T>> {
  const { adapter, platform, leaseMs, onCrash, onParked, task } = options;
  const { schedule, instant, fence } = holder;
  const { dialect } = adapter;
  const at = new Date(instant);
  const lease = keepLease(platform, leaseMs, () => adapter.perform(extendTick(dialect, holder, leaseMs)));
  let value: T;
  try {
    const previousAt = await adapter.perform(previousTick(schedule, instant));
    value = await task({
      at,
      attempt: number,
      fence,
      signal: lease.signal,
      previousAt: previousAt === null ? null : new Date(previousAt),
      key: (item) => tickKey(schedule, instant, item),
    });
  } catch (error) {
    lease.end();
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const isOurs = await adapter.perform(leaveTick(holder, onCrash, reason));
    if (isOurs && onCrash === "park") onParked(at);
    throw error;
  }
  lease.end();
  const { text, mistake } = outcomeText(schedule, value);
  if (!(await adapter.perform(finishTick(dialect, holder, text)))) return { outcome: "lost", at };
  // Done is done, also where what was returned cannot be kept; then the mistake is the author's to see.
  if (mistake !== undefined) throw mistake;
  // Housekeeping; the next tick does it otherwise.
  await adapter.perform(reapTicks(dialect, schedule)).catch(() => 0);
  return { outcome: "done", at, attempt: number, value };
}

function outcomeText(schedule: string, value: unknown): { readonly text: string; readonly mistake?: unknown } {
  try {
    return { text: toJson(value ?? null, `The outcome of "${schedule}"`) };
  } catch (mistake) {
    return { text: "null", mistake };
  }
}
