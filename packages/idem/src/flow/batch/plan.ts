// Kept in a buffer until there are enough.
import { instant } from "../../model/decision.ts";
import type { Expressions } from "../../model/expression.ts";
import { evaluateFilter } from "../../model/expression-outcome.ts";
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

export const keyInBatch = (key: string, runId: string): string => `key ${key} is already in this batch (run ${runId})`;

/** `also`: what else its decision has to say. */
export const inBatch = (size: number, also: string | null): string =>
  also === null ? `in a batch of ${size}` : `in a batch of ${size}; ${also}`;

export const batchedUntil = (sizeMax: number, dueAt: number): string =>
  `one of up to ${sizeMax} for the run at ${instant(dueAt)} or before`;
