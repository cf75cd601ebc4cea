// A run's conditions for events that may cancel it, written down when it is started.
import type { Expressions } from "../../model/expression.ts";
import { anyEvent, takeEquality } from "../../model/expression-equality.ts";
import type { CancelConfig } from "./config.ts";

/** An event that cancels the run while it is open. */
export interface CancelRule {
  readonly eventName: string;
  /** One equality taken from the expression, as in a wait for an event; "" for none. */
  readonly path: string;
  readonly value: string;
  readonly rest: string | null;
  /** Counts for this long after the run's creation; null while the run is open. */
  readonly lastsMs: number | null;
}

/** `payload`: the run's own event, as user code sees it. Throws EXPRESSION_INVALID. */
export function planCancels(
  cancelOn: readonly CancelConfig[],
  payload: unknown,
  expressions: Expressions,
): CancelRule[] {
  return cancelOn.map(({ event, if: condition, timeoutMs }) => {
    const taken = condition === null ? anyEvent : takeEquality(expressions.stored(condition), payload);
    return { eventName: event, ...taken, lastsMs: timeoutMs };
  });
}
