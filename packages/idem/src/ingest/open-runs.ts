// Event × function becomes a pair: start a run for this key, or the reason why not. Decided here, before the store is asked;
// the store re-checks what may have changed meanwhile (the key, the event's id, the registration).
//
//   paused?            → paused
//   every filter false → filtered (reason names the expression)
//   key missing        → onMissing "reject": held · "run": start without a key, reason says so
//   key's digits lost  → held, whatever onMissing says
//   otherwise          → start, with the key if there is one and what else it has to pass
import { deriveKey } from "../dedup/derive-key.ts";
import { planFlow } from "../flow/plan.ts";
import type { Expressions } from "../model/expression.ts";
import { evaluateFilter } from "../model/expression-outcome.ts";
import type { EventTrigger, FunctionConfig } from "../model/function-config.ts";
import { turnCostMax, withinCost } from "../model/metered-cost.ts";
import type { NewPair } from "../store/ingest.ts";

export interface Target {
  readonly fn: string;
  readonly config: FunctionConfig;
  readonly pausedAt: number | null;
  /** Fingerprint of its code in this process; absent where it has none. */
  readonly code?: string | undefined;
}

export interface Occasion {
  /** Index of the event in its call. */
  readonly event: number;
  /** Seen by user code and expressions. */
  readonly payload: { readonly id: string; readonly ts: number };
  /** The texts it was read from, where long numbers have all their digits. */
  readonly written: { readonly data: string; readonly extra: string | null };
  /** The event's own id, which names the window where nothing else does. */
  readonly eventId: string;
  /** Instead of the event's id: the step that invokes. Its key already holds the invoking run's generation. */
  readonly invokedBy: string | null;
  readonly runId: string;
  readonly env: string;
  readonly now: number;
  readonly leaseTo: string | null;
}

/** Hindrances that a person, or a tick, takes out of the way. */
export interface Leave {
  /** A person releases the event: neither a pause nor a missing key keeps it. */
  readonly released?: boolean;
  /** It goes past buffers. */
  readonly unbuffered?: boolean;
  /** Not before this instant; the event's own `ts` by default. */
  readonly dueAt?: number | null;
}

/** A function's expressions may together cost, for one event, no more than the loop can be held for. */
export function openRun(
  target: Target,
  triggers: readonly EventTrigger[],
  occasion: Occasion,
  expressions: Expressions,
  leave: Leave = {},
): NewPair {
  return withinCost(turnCostMax, () => decide(target, triggers, occasion, expressions, leave));
}

function decide(
  target: Target,
  triggers: readonly EventTrigger[],
  occasion: Occasion,
  expressions: Expressions,
  leave: Leave,
): NewPair {
  const { config, fn } = target;
  const { event, payload } = occasion;
  if (target.pausedAt !== null && leave.released !== true) {
    return { kind: "paused", event, fn, reason: `function "${config.id}" is paused` };
  }
  const refused = firstRefusal(fn, triggers, payload, expressions);
  if (refused !== null) return { kind: "filtered", event, fn, reason: refused };
  const keyed = { payload, ...occasion.written };
  const derived = deriveKey(config.idempotency, keyed, expressions);
  const isKept = derived.kind === "lost" || (derived.kind === "missing" && config.idempotency!.onMissing === "reject");
  if (isKept && leave.released !== true) {
    return { kind: "held", event, fn, reason: `${derived.reason}; held for a person to release` };
  }
  const key = derived.kind === "key" ? derived.key : null;
  const { env, runId } = occasion;
  const planned = planFlow({ env, fn, config, runId }, keyed, expressions, leave.unbuffered !== true);
  const reasons =
    derived.kind === "missing" || derived.kind === "lost" ? [`${derived.reason}; started without a key`] : [];
  reasons.push(...planned.reasons);
  // A future `ts` delays the start, as Inngest does; windows are never judged by it.
  const ownDueAt = payload.ts > occasion.now ? payload.ts : null;
  return {
    kind: "start",
    event,
    fn,
    runId,
    key,
    windowMs: config.idempotency?.windowMs ?? 0,
    hold: config.idempotency?.untilFinished ?? false,
    subject: key ?? occasion.invokedBy ?? payload.id,
    generation: occasion.invokedBy ?? occasion.eventId,
    rank: occasion.now - planned.priorityMs,
    dueAt: leave.dueAt === undefined ? ownDueAt : leave.dueAt,
    leaseTo: occasion.leaseTo,
    ...(occasion.leaseTo === null || target.code === undefined ? {} : { code: target.code }),
    reason: reasons.length === 0 ? null : reasons.join("; "),
    flow: planned.flow,
  };
}

/** Whether an event that was written for one function is for this one: the others decide nothing about it. */
export const isFor = (
  fn: string,
  triggers: readonly EventTrigger[],
  payload: Occasion["payload"],
  expressions: Expressions,
): boolean => firstRefusal(fn, triggers, payload, expressions) === null;

/** Null when one trigger lets the event in. */
function firstRefusal(
  fn: string,
  triggers: readonly EventTrigger[],
  payload: Occasion["payload"],
  expressions: Expressions,
): string | null {
  let refusal: string | null = null;
  for (const trigger of triggers) {
    if (trigger.if === undefined) return null;
    const { pass, reason, failed } = evaluateFilter(expressions.stored(trigger.if), { event: payload });
    if (pass) return null;
    if (failed) {
      expressions.onFailed({ fn, runId: null, option: "trigger.if", expression: trigger.if, reason: reason! });
    }
    refusal ??= reason ?? `filter \`${trigger.if}\` is false`;
  }
  return refusal;
}
