// The operators: JSON numbers meet int literals in them, and each knows what a missing operand means.
// Each function gives its node a meaning and returns the operands, which still need theirs.

import { Failure } from "./expression-failure.ts";
import { errorCost, joinedLengthMax, type Meter } from "./expression-meter.ts";
import type { Node } from "./expression-node.ts";
import {
  chargeText,
  isContainer,
  isEqual,
  isInstance,
  isNumeric,
  isText,
  kindOf,
  ownField,
} from "./expression-value.ts";

export function defineField(node: Node, meter: Meter): readonly Node[] {
  const [target, name] = node.args as [Node, string];
  node.evaluate = (evaluator, _node, context) => {
    const holder = target.evaluate(evaluator, target, context);
    if (holder === undefined) return undefined;
    const value = ownField(holder, name);
    return value === undefined ? meter.note(node, "missing") : value;
  };
  return [target];
}

export function defineIndex(node: Node, meter: Meter): readonly Node[] {
  const [target, at] = node.args as [Node, Node];
  node.evaluate = (evaluator, _node, context) => {
    const holder = target.evaluate(evaluator, target, context);
    if (holder === undefined) return undefined;
    const key = at.evaluate(evaluator, at, context);
    if (key === undefined) return undefined;
    let value: unknown;
    if (typeof key === "string") value = ownField(holder, key);
    else if (Array.isArray(holder) && isNumeric(key)) value = holder[Number(key)];
    return value === undefined ? meter.note(node, "missing") : value;
  };
  return [target, at];
}

const isNullWord = (node: Node): boolean => node.op === "value" && node.args === null;

export function defineEquality(node: Node, meter: Meter): readonly Node[] {
  const [left, right] = node.args as [Node, Node];
  const whenEqual = node.op === "==";
  if (isNullWord(left) || isNullWord(right)) {
    const asked = isNullWord(left) ? right : left;
    node.evaluate = (evaluator, _node, context) => {
      const value = asked.evaluate(evaluator, asked, context) ?? null;
      return (value === null) === whenEqual;
    };
    return [left, right];
  }
  node.evaluate = (evaluator, _node, context) => {
    const l = left.evaluate(evaluator, left, context);
    if (l === undefined) return !whenEqual;
    const r = right.evaluate(evaluator, right, context);
    if (r === undefined) return !whenEqual;
    return isEqual(l, r, meter) === whenEqual;
  };
  return [left, right];
}

const relations: Readonly<Record<string, (a: number | bigint | string, b: number | bigint | string) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

export function defineRelation(node: Node, meter: Meter): readonly Node[] {
  const [left, right] = node.args as [Node, Node];
  const compare = relations[node.op]!;
  node.evaluate = (evaluator, _node, context) => {
    const l = left.evaluate(evaluator, left, context);
    const r = right.evaluate(evaluator, right, context);
    if (isNumeric(l) && isNumeric(r)) return compare(l, r);
    if (typeof l === "string" && typeof r === "string") {
      chargeText(l, r, meter);
      return compare(l, r);
    }
    if (l === undefined || r === undefined || l === null || r === null) return false;
    if (isInstance(l) && isInstance(r)) return node.handle(l, r, node, evaluator);
    throw new Failure(`${kindOf(l)} ${node.op} ${kindOf(r)} has no meaning`);
  };
  return [left, right];
}

export function defineMembership(node: Node, meter: Meter): readonly Node[] {
  const [left, right] = node.args as [Node, Node];
  node.evaluate = (evaluator, _node, context) => {
    const item = left.evaluate(evaluator, left, context);
    const holder = right.evaluate(evaluator, right, context);
    if (item === undefined || holder === undefined || holder === null) return false;
    if (Array.isArray(holder)) {
      for (const other of holder) {
        meter.spend(1);
        if (isEqual(item, other, meter)) return true;
      }
      return false;
    }
    if (typeof holder !== "object") throw new Failure(`"in" needs a list or an object, not ${kindOf(holder)}`);
    return typeof item === "string" && ownField(holder, item) !== undefined;
  };
  return [left, right];
}

const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "%": (a, b) => a % b,
};

/**
 * The pairs of types that arithmetic above takes and the library's type check would refuse, with their result, in the
 * form of Environment.registerOperator.
 */
export const mixedOperators: readonly string[] = [
  ...["string + int", "string + double", "int + string", "double + string"].map((pair) => `${pair}: string`),
  ...["+", "-", "*", "/", "%"].flatMap((op) => [`int ${op} double: double`, `double ${op} int: double`]),
  "double % double: double",
];

function join(l: string | number | bigint, r: string | number | bigint, meter: Meter): string {
  const text = `${l}${r}`;
  if (text.length > joinedLengthMax) throw new Failure(`the joined text is longer than ${joinedLengthMax} characters`);
  if (text.length > 64) meter.spend(text.length / 16);
  return text;
}

export function defineArithmetic(node: Node, meter: Meter): readonly Node[] {
  const [left, right] = node.args as [Node, Node];
  const { op } = node;
  const compute = arithmetic[op]!;
  node.evaluate = (evaluator, _node, context) => {
    const l = left.evaluate(evaluator, left, context);
    if (l === undefined) return undefined;
    const r = right.evaluate(evaluator, right, context);
    if (r === undefined) return undefined;
    if (op === "+" && (typeof l === "string" || typeof r === "string")) {
      if (isText(l) && isText(r)) return join(l, r, meter);
    } else if (typeof l === "number" ? isNumeric(r) : typeof l === "bigint" && typeof r === "number") {
      return compute(Number(l), Number(r));
    }
    if (l === null) return meter.note(left, "null");
    if (r === null) return meter.note(right, "null");
    if (op === "+" && Array.isArray(l) && Array.isArray(r)) {
      meter.spend(l.length + r.length);
      return l.concat(r);
    }
    // Two int literals, a Timestamp, a Duration: the library's own arithmetic, with its overflow checks.
    if (!isContainer(l) && !isContainer(r)) return node.handle(l, r, node, evaluator);
    throw new Failure(`${kindOf(l)} ${op} ${kindOf(r)} has no meaning`);
  };
  return [left, right];
}

export function defineNegation(node: Node): readonly Node[] {
  const operand = node.args as Node;
  node.evaluate = (evaluator, _node, context) => {
    const value = operand.evaluate(evaluator, operand, context);
    if (value === undefined) return undefined;
    if (isNumeric(value)) return -value;
    throw new Failure(`-${kindOf(value)} has no meaning`);
  };
  return [operand];
}

export function defineLogic(node: Node, meter: Meter): readonly Node[] {
  const operands = node.args as [Node, Node];
  const decides = node.op === "||";
  node.setMeta("check", (checker, _node, context) => {
    for (const operand of operands) checker.check(operand, context);
    return checker.boolType;
  });
  node.evaluate = (evaluator, _node, context) => {
    // As CEL has it: an operand that fails does not matter when the other one decides.
    let failure: unknown;
    for (const operand of operands) {
      try {
        if (Boolean(operand.evaluate(evaluator, operand, context)) === decides) return decides;
      } catch (error) {
        meter.spend(errorCost);
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
    return !decides;
  };
  return operands;
}

export function defineNot(node: Node): readonly Node[] {
  const operand = node.args as Node;
  node.setMeta("check", (checker, _node, context) => {
    checker.check(operand, context);
    return checker.boolType;
  });
  node.evaluate = (evaluator, _node, context) => !operand.evaluate(evaluator, operand, context);
  return [operand];
}

export function defineChoice(node: Node): readonly Node[] {
  const [condition, yes, no] = node.args as [Node, Node, Node];
  node.setMeta("check", (checker, _node, context) => {
    checker.check(condition, context);
    const type = checker.check(yes, context);
    return checker.check(no, context) === type ? type : checker.dynType;
  });
  node.evaluate = (evaluator, _node, context) => {
    const branch = condition.evaluate(evaluator, condition, context) ? yes : no;
    return branch.evaluate(evaluator, branch, context);
  };
  return [condition, yes, no];
}
