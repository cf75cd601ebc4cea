// matches(): regular expressions whose time is linear in the text, by RE2, with the pattern known when compiled.

import { RE2JS } from "re2js";
import { Failure, Refusal } from "./expression-failure.ts";
import type { Meter } from "./expression-meter.ts";
import type { Node } from "./expression-node.ts";
import { kindOf } from "./expression-value.ts";

const patternLengthMax = 256;

export function defineMatches(node: Node, operands: Node[], meter: Meter): readonly Node[] {
  const [target, pattern] = operands as [Node, Node];
  if (operands.length !== 2 || pattern.op !== "value" || typeof pattern.args !== "string") {
    throw new Refusal("matches() takes one pattern, written out as a string");
  }
  if (pattern.args.length > patternLengthMax) {
    throw new Refusal(`the pattern of matches() is longer than ${patternLengthMax} characters`);
  }
  const matcher = compilePattern(pattern.args);
  // RE2's worst case builds a new automaton state per character: measured at 85 ns per instruction and character.
  const costPerCharacter = matcher.programSize();
  node.evaluate = (evaluator, _node, context) => {
    const value = target.evaluate(evaluator, target, context);
    if (value === undefined) return undefined;
    if (value === null) return meter.note(target, "null");
    if (typeof value !== "string") throw new Failure(`matches() needs text, not ${kindOf(value)}`);
    meter.spend(value.length * costPerCharacter);
    return matcher.test(value);
  };
  return operands;
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Refusal(`the pattern of matches() cannot be used: ${(error as Error).message}`);
  }
}
