// matches(): regular expressions whose time is linear in the text, by RE2, with the pattern known when compiled.

// A namespace, so that it is set up when the first pattern asks for it: scripts/bundle.mjs.
import * as re2 from "re2js";
import { Failure, Refusal } from "./expression-failure.ts";
import type { Meter } from "./expression-meter.ts";
import type { Node } from "./expression-node.ts";
import { kindOf } from "./expression-value.ts";
import { patternWeight } from "./pattern-weight.ts";

const patternLengthMax = 256;
// Of all patterns of an expression together: compiling takes about 10 µs for each, so some 5 ms.
const patternWeightMax = 500;
// RE2 builds a state of its automaton when it first comes to it. The worst case is a new one for each character, measured at 300 ns for
// what it weighs; small patterns run out of new states, and those that begin at the start and repeat within bounds do not get that far.
const steadyCost = 2;
const worstCost = 8;
const smallWeight = 40;

export function defineMatches(node: Node, operands: Node[], meter: Meter): readonly Node[] {
  const [target, pattern] = operands as [Node, Node];
  if (operands.length !== 2 || pattern.op !== "value" || typeof pattern.args !== "string") {
    throw new Refusal("matches() takes one pattern, written out as a string");
  }
  if (pattern.args.length > patternLengthMax) {
    throw new Refusal(`the pattern of matches() is longer than ${patternLengthMax} characters`);
  }
  const weight = patternWeight(pattern.args);
  meter.patternWeight += weight;
  if (meter.patternWeight > patternWeightMax) {
    throw new Refusal(
      "the patterns of matches() are too large together; repeat less in them, such as {1,64} for {1,1000}",
    );
  }
  const matcher = compilePattern(pattern.args);
  const size = matcher.programSize();
  const costPerCharacter = size * (size <= smallWeight || isSteady(pattern.args) ? steadyCost : worstCost);
  node.evaluate = (evaluator, _node, context) => {
    const value = target.evaluate(evaluator, target, context);
    if (value === undefined) return undefined;
    if (value === null) return meter.note(target, "null");
    if (typeof value !== "string") throw new Failure(`matches() needs text, not ${kindOf(value)}`);
    meter.spend((value.length + 1) * costPerCharacter);
    return matcher.test(value);
  };
  return operands;
}

/** Anchored, and without end only at its end. */
function isSteady(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\.|\[[^\]]*\]/g, "x");
  return plain.startsWith("^") && !/[*+]|\{\d+,\}/.test(plain.slice(0, -6));
}

function compilePattern(pattern: string): re2.RE2JS {
  try {
    return re2.RE2JS.compile(pattern);
  } catch (error) {
    throw new Refusal(`the pattern of matches() cannot be used: ${(error as Error).message}`);
  }
}
