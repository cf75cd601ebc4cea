// The functions and methods an expression may call, and what each may cost before the library runs it.

import { Failure, Refusal } from "./expression-failure.ts";
import { defineMatches } from "./expression-matches.ts";
import { joinedLengthMax, keyCost, type Meter } from "./expression-meter.ts";
import { evaluateAll } from "./expression-missing.ts";
import type { Node } from "./expression-node.ts";
import { isContainer, kindOf } from "./expression-value.ts";

// Named one by one: what the library adds later, and what can build or hide values (bytes, type, cel.bind), stays out.
const functions = new Set(["size", "string", "int", "double", "bool", "timestamp", "duration", "dyn"]);
const methods = new Set(
  ["size", "contains", "startsWith", "endsWith", "indexOf", "lastIndexOf", "substring", "lowerAscii", "upperAscii"]
    .concat(["trim", "split", "join", "matches", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"])
    .concat(["getFullYear", "getMonth", "getHours", "getMinutes", "getSeconds", "getMilliseconds"]),
);
const searches = new Set(["contains", "indexOf", "lastIndexOf", "split"]);

// A time zone lookup goes through Intl and takes about 200 µs.
const timeZoneCost = 6_000;
// The library looks its function up by the types of the values: about 250 ns.
const callBaseCost = 6;
// Reading a timestamp's text takes about 1 µs.
const timestampCost = 25;

/** Gives a call its meaning and returns its operands, which still need theirs. */
export function defineCall(node: Node, meter: Meter): readonly Node[] {
  const isMethod = node.op === "rcall";
  const [name, ...rest] = node.args as [string, ...unknown[]];
  const operands = (isMethod ? [rest[0], ...(rest[1] as Node[])] : rest[0]) as Node[];
  if (!isMethod && name === "has") return defineHas(node, operands);
  if (!(isMethod ? methods : functions).has(name)) throw new Refusal(`the function "${name}" is not supported`);
  if (name === "matches") return defineMatches(node, operands, meter);

  node.evaluate = (evaluator, _node, context) => {
    const values = evaluateAll(operands, evaluator, context);
    if (values === undefined) return undefined;
    const absentAt = values.indexOf(null);
    if (absentAt !== -1) return meter.note(operands[absentAt]!, "null");
    if (name === "dyn") return values[0];
    if (name === "size" && isContainer(values[0])) return sizeOf(values[0], meter);
    meter.spend(callCost(name, values));
    for (const value of values) {
      // The library names the type of a value by looking inside it, which takes as long as its first object has keys.
      const isSimple = !isContainer(value) || (Array.isArray(value) && !isContainer(value[0]));
      if (!isSimple) throw new Failure(`${name}() cannot take ${kindOf(value)}`);
    }
    const value = isMethod ? node.handle(values, evaluator, node) : node.handle(values, node, evaluator);
    if (Array.isArray(value)) meter.spend(value.length);
    return value;
  };
  return operands;
}

function defineHas(node: Node, operands: Node[]): readonly Node[] {
  const [field] = operands as [Node];
  node.evaluate = (evaluator, _node, context) => field.evaluate(evaluator, field, context) !== undefined;
  return operands;
}

function sizeOf(value: object, meter: Meter): bigint {
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (!Array.isArray(value)) meter.spend(count * keyCost);
  return BigInt(count);
}

/** The cost of a library function, from its values before it runs. */
function callCost(name: string, values: readonly unknown[]): number {
  const [first, second] = values;
  if (name === "join" && Array.isArray(first)) {
    let length = first.length * (typeof second === "string" ? second.length : 0);
    for (const item of first) length += typeof item === "string" ? item.length : 0;
    if (length > joinedLengthMax) throw new Failure(`the joined text is longer than ${joinedLengthMax} characters`);
    return first.length + length / 16;
  }
  // The library's pattern for durations backtracks with the cube of the length.
  if (name === "duration" && typeof first === "string") {
    if (first.length > 64) throw new Failure("duration() takes at most 64 characters");
    return callBaseCost + first.length ** 3 / 48;
  }
  if (name.startsWith("get")) return values.length > 1 ? timeZoneCost : callBaseCost;
  let cost = name === "timestamp" ? timestampCost : callBaseCost;
  for (const value of values) if (typeof value === "string") cost += value.length / 8;
  // V8's search is quadratic at worst: 1e6 × 1e5 characters took 15 s, 0.15 ns for each pair.
  if (searches.has(name) && typeof first === "string" && typeof second === "string") {
    cost += (first.length * second.length) / 256;
  }
  return cost;
}
