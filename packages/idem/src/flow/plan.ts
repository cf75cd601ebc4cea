// The conditions of a start beside its key, with every expression evaluated: the store compares names, counts and times.
import { exactKey, type KeyedEvent } from "../dedup/exact-key.ts";
import type { GatheredKind } from "../model/decision.ts";
import type { Expressions } from "../model/expression.ts";
import { type BatchRule, planBatch } from "./batch/plan.ts";
import { type CancelRule, planCancels } from "./cancel-on/plan.ts";
import { type DebounceRule, planDebounce } from "./debounce/plan.ts";
import { type LaneUse, needsLane, planLane } from "./lane.ts";
import { hasFlow } from "./options.ts";
import { everyone, type FlowOf, type OwnKey } from "./plan-keys.ts";
import { planPriority } from "./priority/plan.ts";
import { planRateLimit, type RateRule } from "./rate-limit/plan.ts";
import { planSingleton, type SingletonRule } from "./singleton/plan.ts";

/** Conditions of a start, in this order: buffer · key · rate limit · singleton · lane. */
export interface StartFlow {
  readonly buffer: BufferRule | null;
  readonly rateLimit: RateRule | null;
  readonly singleton: SingletonRule | null;
  readonly lane: LaneUse | null;
  readonly cancelOn: readonly CancelRule[];
  /**
   * So long after its creation, or its event's `ts` if that is later, a run that has not begun is leased past its lane, so that its executor
   * can end it (`timeouts.start`); null for never.
   */
  readonly startWithinMs: number | null;
}

/** Kept with the run of its start's conditions. */
export interface RunFlow extends Pick<StartFlow, "lane" | "cancelOn"> {
  /** From then on it is leased past its lane; null for never. */
  readonly startBy: number | null;
  /** The key in which it is the only open run. */
  readonly singleton: string | null;
}

/** Events kept until one run is started for them. */
export type BufferRule = DebounceRule | BatchRule;

/** The decision about an event while it is kept. */
export const gatheredAs: Readonly<Record<BufferRule["kind"], GatheredKind>> = {
  debounce: "debounced",
  batch: "batched",
};

export interface PlannedFlow {
  readonly flow: StartFlow | null;
  /** Options that did not apply, and why. */
  readonly reasons: readonly string[];
  /** Milliseconds by which it is put before others. */
  readonly priorityMs: number;
}

const plain: PlannedFlow = { flow: null, reasons: [], priorityMs: 0 };

/** Buffers take events; a tick and what a person asks for start at once. */
export function planFlow(of: FlowOf, event: KeyedEvent, expressions: Expressions, isBuffered: boolean): PlannedFlow {
  const { config } = of;
  if (!hasFlow(config)) return plain;
  const { payload } = event;
  const reasons: string[] = [];
  const ownKey: OwnKey = (option, key) => {
    if (key === null) return everyone;
    const result = exactKey(expressions.stored(key), event);
    if (result.kind === "key") return result.key === "false" ? null : result.key;
    const why = result.kind === "lost" ? `key \`${key}\`: ${result.reason}` : result.reason;
    reasons.push(`${option}: ${why}; it did not apply`);
    return null;
  };
  const flow: StartFlow = {
    buffer: isBuffered ? (planDebounce(of, ownKey) ?? planBatch(of, payload, expressions)) : null,
    rateLimit: planRateLimit(of, ownKey),
    singleton: planSingleton(of, ownKey),
    lane: planLane(of, payload, expressions),
    cancelOn: planCancels(config.cancelOn ?? [], payload, expressions),
    startWithinMs: needsLane(config) ? config.startTimeoutMs : null,
  };
  return { flow, reasons, priorityMs: planPriority(of, payload, expressions) };
}
