// Which of those that are due comes first.
import type { Expressions } from "../../model/expression.ts";
import { type FlowOf, tellFailed } from "../plan-keys.ts";

// Inngest's bound; more than that is not an order but another queue.
const prioritySecondsMax = 600;

/** Milliseconds by which a run is put before others. */
export function planPriority(of: FlowOf, payload: unknown, expressions: Expressions): number {
  const { priority } = of.config;
  if (priority === undefined) return 0;
  const evaluation = expressions.stored(priority).evaluate({ event: payload });
  if (!evaluation.ok || typeof evaluation.value !== "number" || !Number.isFinite(evaluation.value)) {
    const reason = evaluation.ok
      ? `priority \`${priority}\` is no number`
      : `priority \`${priority}\`: ${evaluation.message}`;
    tellFailed(of, "priority.run", priority, reason, expressions);
    return 0;
  }
  return Math.round(Math.max(-prioritySecondsMax, Math.min(prioritySecondsMax, evaluation.value)) * 1000);
}
