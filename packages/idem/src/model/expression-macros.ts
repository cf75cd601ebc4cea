// all, exists, exists_one, map and filter: the library loops, the meter counts every pass through a body.

import { Failure } from "./expression-failure.ts";
import { errorCost, keyCost, type Meter, passCost } from "./expression-meter.ts";
import { missing, undefinedWhenMissing } from "./expression-missing.ts";
import type { Node } from "./expression-node.ts";
import { isContainer, kindOf } from "./expression-value.ts";

const macros = new Set(["all", "exists", "exists_one", "map", "filter"]);
// An item that stays in a list is memory to find and to collect, not only time.
const itemCost = 4;

export type MacroArgs = [name: string, target: Node, inner: [variable: Node, ...bodies: Node[]]];

export function isMacro(node: Node): boolean {
  return node.op === "rcall" && node.meta.alternate !== undefined && macros.has(node.args[0]);
}

/** Wraps the bodies, so they must have their meaning by now; bodyCosts are their node counts. */
export function defineMacro(node: Node, bodyCosts: readonly number[], meter: Meter): void {
  const [name, target, [, ...bodies]] = node.args as MacroArgs;
  const loop = node.meta.alternate!;
  for (const [i, body] of bodies.entries()) {
    const cost = bodyCosts[i]!;
    const isValue = name === "map" && i === bodies.length - 1;
    meterBody(body, passCost + (isValue ? cost + itemCost : cost), isValue, meter);
  }
  // all and exists go on after an item that failed; they must not go on once the meter is spent.
  const goesOn = loop.args.condition as ((value: unknown) => boolean) | undefined;
  if (goesOn !== undefined) loop.args.condition = (value: unknown) => !meter.isSpent && goesOn(value);

  node.evaluate = (evaluator, _node, context) => {
    let items = target.evaluate(evaluator, target, context);
    if (items === undefined) return undefined;
    if (items === null) return meter.note(target, "null");
    if (!isContainer(items)) throw new Failure(`${name}() needs a list or an object, not ${kindOf(items)}`);
    if (!Array.isArray(items)) {
      items = Object.keys(items);
      meter.spend((items as string[]).length * keyCost);
    }
    return undefinedWhenMissing(() => loop.handle(items, loop.args, evaluator, context));
  };
}

/** A body is a condition, or what map() puts into its list. */
function meterBody(body: Node, cost: number, isValue: boolean, meter: Meter): void {
  const { evaluate } = body;
  body.evaluate = (evaluator, _node, context) => {
    meter.spend(cost);
    let value: unknown;
    try {
      value = evaluate(evaluator, body, context);
    } catch (error) {
      meter.spend(errorCost);
      throw error;
    }
    if (!isValue) return Boolean(value);
    if (value === undefined) throw missing;
    return value;
  };
}
