// A run's conditions for events that may cancel it, written down when it is started.
import type { Expressions } from "../model/expression.ts";
import { anyEvent, takeEquality } from "../model/expression-equality.ts";
import type { CancelConfig } from "../model/function-config.ts";
import type { CancelRule } from "../store/flow.ts";

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
