// Kept in a buffer until there are enough.
import { type Expressions, evaluateFilter } from "../../model/expression.ts";
import { type FlowOf, sharedKeyOf, tellFailed } from "../plan-keys.ts";

// Inngest's bound on what a batch may carry.
const batchBytesMax = 10 * 1024 * 1024;

/** With all of them, once there are `maxSize`, or `bytesMax`, or `timeoutMs` after the first. */
export interface BatchRule {
  readonly kind: "batch";
  readonly key: string;
  readonly maxSize: number;
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

export function planBatch(of: FlowOf, payload: unknown, expressions: Expressions): BatchRule | null {
  const { batch } = of.config;
  if (batch === undefined) return null;
  if (batch.if !== null) {
    const { pass, reason, failed } = evaluateFilter(expressions.stored(batch.if), { event: payload });
    if (failed) tellFailed(of, "batchEvents.if", batch.if, reason!, expressions);
    if (!pass) return null;
  }
  const { maxSize, timeoutMs } = batch;
  const key = sharedKeyOf(of, "batchEvents.key", batch.key, payload, expressions);
  return { kind: "batch", key, maxSize, timeoutMs, bytesMax: batchBytesMax };
}
