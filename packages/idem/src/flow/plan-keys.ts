// The keys by which an option tells events apart. One that is missing or fails must not put strangers together where something would be
// lost by it:
//   debounce, rateLimit, singleton → does not apply, and the decision says so (`false` means the same, without a word): OwnKey
//   concurrency, throttle, batchEvents → all such events share one line, so the limit still holds: sharedKeyOf
import type { Expressions } from "../model/expression.ts";
import { evaluateKey } from "../model/expression-outcome.ts";
import type { FunctionConfig } from "../model/function-config.ts";

/** No canonical JSON is this: the key of what has no key. */
export const everyone = "*";

export interface FlowOf {
  readonly env: string;
  readonly fn: string;
  readonly config: FunctionConfig;
  /** The run to be started, so that one cancelled for it can say so; absent where none is. */
  readonly runId?: string;
}

/** Null where the option does not apply. */
export type OwnKey = (option: string, key: string | null) => string | null;

export function sharedKeyOf(
  of: FlowOf,
  option: string,
  key: string | null,
  payload: unknown,
  expressions: Expressions,
): string {
  if (key === null) return everyone;
  const result = evaluateKey(expressions.stored(key), { event: payload });
  if (result.kind === "key") return result.key;
  tellFailed(of, option, key, result.reason, expressions);
  return "null";
}

/** Only where a run is being started: a mere look reports nothing. */
export function tellFailed(
  of: FlowOf,
  option: string,
  expression: string,
  reason: string,
  expressions: Expressions,
): void {
  if (of.runId !== undefined) expressions.onFailed({ fn: of.fn, runId: null, option, expression, reason });
}
