// A missing value is undefined among our operators, and a throw where the library's code lies between two of them.

import { Failure } from "./expression-failure.ts";
import type { Context, Evaluator, Node } from "./expression-node.ts";

// Thrown to leave the library's code, which takes undefined for a value. Made once: a stack trace costs microseconds.
export const missing = new Failure("missing");

/** Undefined as soon as one is missing, so that the last part noted as absent is the one that mattered. */
export function evaluateAll(nodes: readonly Node[], evaluator: Evaluator, context: Context): unknown[] | undefined {
  const values = new Array<unknown>(nodes.length);
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!;
    const value = node.evaluate(evaluator, node, context);
    if (value === undefined) return undefined;
    values[i] = value;
  }
  return values;
}

export function throwWhenMissing(node: Node): void {
  const { evaluate } = node;
  node.evaluate = (evaluator, _node, context) => {
    const value = evaluate(evaluator, node, context);
    if (value === undefined) throw missing;
    return value;
  };
}

export function undefinedWhenMissing(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch (error) {
    if (error === missing) return undefined;
    throw error;
  }
}
