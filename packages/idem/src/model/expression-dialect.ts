// What an expression means here where plain CEL would stop: JSON numbers meet int literals, and a field may be missing.
// The library parses, checks types, runs macros and functions; this file gives the parsed operators their meaning.
//
// Missing: every operator below returns undefined when what it needs is missing, and looks for undefined in its operands.
//   field, index, call, + - * / %   missing or null operand → missing, never a shared partial key
//   == != < <= > >= in              missing operand → false (!= true); a missing field equals only the word null
//   && || ! ?:                      missing counts as false; other values count as JavaScript's truth has them
//
// Cost: outside macros a node runs once and an expression has at most 500, so only what depends on data is metered:
// macro bodies, comparing, joining, searching, matching. A meter that runs out fails the evaluation.

import { RE2JS } from "re2js";

type Evaluate = (evaluator: Evaluator, node: Node, context: Context) => unknown;
type Evaluator = unknown;
interface Context {
  getValue(name: string): unknown;
}
interface Checker {
  readonly boolType: unknown;
  readonly dynType: unknown;
  check(node: Node, context: Context): unknown;
}

/** The library's parsed node. Its types leave out what its own macros use: meta, setMeta, evaluate, handle. */
export interface Node {
  readonly op: string;
  readonly args: any;
  readonly start: number;
  readonly end: number;
  readonly input: string;
  readonly meta: { readonly alternate?: Node; readonly evaluate: Evaluate };
  setMeta(key: "check", check: (checker: Checker, node: Node, context: Context) => unknown): void;
  /** The library's own meaning, chosen from the operands' types when the expression was checked. */
  handle: (...args: unknown[]) => unknown;
  evaluate: Evaluate;
}

/** Why an expression cannot be compiled. */
class Refusal extends Error {}

/** Why an evaluation has no value. */
class Failure extends Error {}

// Thrown to leave the library's code, which takes undefined for a value. Made once: a stack trace costs microseconds.
const missing = new Failure("missing");
const tooCostly = new Failure("it costs too much to evaluate on this data");

// A unit is about 40 ns, so an evaluation ends within some 20 ms; a filter such as
// items.exists(i, i.sku == "x") over 10,000 items spends 40,000.
const costMax = 500_000;
// Making an error, with its stack and its marked source line, takes about 10 µs.
const errorCost = 250;
// Listing the keys of a large object, and looking them up in another, takes about 300 ns for each.
const keyCost = 8;
// An item that stays in a list is memory to find and to collect, not only time.
const itemCost = 4;
// A time zone lookup goes through Intl and takes about 100 µs.
const timeZoneCost = 2_500;
// Joined text only has to fit a key or a comparison; the bound stops doubling long before memory does.
const joinedLengthMax = 65_536;
const patternLengthMax = 256;

export class Meter {
  left = costMax;
  /** The part found missing last. Operators stop at their first missing operand, so it is the one that mattered. */
  absent: Node | undefined;
  absentBecause = "missing";

  reset(): void {
    this.left = costMax;
    this.absent = undefined;
  }

  get isSpent(): boolean {
    return this.left < 0;
  }

  /** Throws once nothing is left, and from then on at every call. */
  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw tooCostly;
  }

  note(node: Node, because: "missing" | "null"): undefined {
    this.absent = node;
    this.absentBecause = because;
    return undefined;
  }
}

/** Gives every node of a parsed expression its meaning. Run it before the library's type check. */
export function applyDialect(root: Node): Meter {
  const meter = new Meter();
  new Dialect(meter).install(root, new Set(["event", "async"]));
  return meter;
}

const macros = new Set(["all", "exists", "exists_one", "map", "filter"]);
// Named one by one: what the library adds later, and what can build or hide values (bytes, type, cel.bind), stays out.
const functions = new Set(["size", "string", "int", "double", "bool", "timestamp", "duration", "dyn"]);
const methods = new Set(
  ["size", "contains", "startsWith", "endsWith", "indexOf", "lastIndexOf", "substring", "lowerAscii", "upperAscii"]
    .concat(["trim", "split", "join", "matches", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear"])
    .concat(["getFullYear", "getMonth", "getHours", "getMinutes", "getSeconds", "getMilliseconds"]),
);
const searches = new Set(["contains", "indexOf", "lastIndexOf", "split"]);

class Dialect {
  readonly #meter: Meter;

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  /** Returns how many nodes there are, itself included: the cost of one pass over them. */
  install(node: Node, names: ReadonlySet<string>): number {
    const { op, args } = node;
    switch (op) {
      case "value":
        if (typeof args === "object" && args !== null)
          throw new Refusal("bytes and unsigned numbers are not supported");
        if (typeof args === "bigint" && BigInt.asIntN(64, args) !== args)
          throw new Refusal(`${args} is not a 64-bit int`);
        node.evaluate = () => args;
        return 1;
      case "id":
        if (!names.has(args)) throw new Refusal(`it names "${args}"; only event and async are known`);
        node.evaluate = (_evaluator, _node, context) => context.getValue(args);
        return 1;
      case ".":
        return this.#field(node, names);
      case "[]":
        return this.#index(node, names);
      case "==":
      case "!=":
        return this.#equality(node, names);
      case "<":
      case "<=":
      case ">":
      case ">=":
        return this.#relation(node, names);
      case "in":
        return this.#membership(node, names);
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
        return this.#arithmetic(node, names);
      case "-_":
        return this.#negation(node, names);
      case "&&":
      case "||":
        return this.#logic(node, names);
      case "!_":
        return this.#not(node, names);
      case "?:":
        return this.#choice(node, names);
      case "list":
        return this.#list(node, names);
      case "map":
        return this.#map(node, names);
      case "call":
      case "rcall":
        return this.#call(node, names);
      default:
        throw new Refusal(`"${op}" is not supported`);
    }
  }

  #installAll(nodes: readonly Node[], names: ReadonlySet<string>): number {
    return nodes.reduce((count, node) => count + this.install(node, names), 1);
  }

  #field(node: Node, names: ReadonlySet<string>): number {
    const [target, name] = node.args as [Node, string];
    const meter = this.#meter;
    node.evaluate = (evaluator, _node, context) => {
      const holder = target.evaluate(evaluator, target, context);
      if (holder === undefined) return undefined;
      const value = ownField(holder, name);
      return value === undefined ? meter.note(node, "missing") : value;
    };
    return 1 + this.install(target, names);
  }

  #index(node: Node, names: ReadonlySet<string>): number {
    const [target, at] = node.args as [Node, Node];
    const meter = this.#meter;
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
    return this.#installAll([target, at], names);
  }

  #equality(node: Node, names: ReadonlySet<string>): number {
    const [left, right] = node.args as [Node, Node];
    const meter = this.#meter;
    const whenEqual = node.op === "==";
    const count = this.#installAll([left, right], names);
    if (isNullWord(left) || isNullWord(right)) {
      const asked = isNullWord(left) ? right : left;
      node.evaluate = (evaluator, _node, context) => {
        const value = asked.evaluate(evaluator, asked, context) ?? null;
        return (value === null) === whenEqual;
      };
      return count;
    }
    node.evaluate = (evaluator, _node, context) => {
      const l = left.evaluate(evaluator, left, context);
      if (l === undefined) return !whenEqual;
      const r = right.evaluate(evaluator, right, context);
      if (r === undefined) return !whenEqual;
      return isEqual(l, r, meter) === whenEqual;
    };
    return count;
  }

  #relation(node: Node, names: ReadonlySet<string>): number {
    const [left, right] = node.args as [Node, Node];
    const meter = this.#meter;
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
    return this.#installAll([left, right], names);
  }

  #membership(node: Node, names: ReadonlySet<string>): number {
    const [left, right] = node.args as [Node, Node];
    const meter = this.#meter;
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
    return this.#installAll([left, right], names);
  }

  #arithmetic(node: Node, names: ReadonlySet<string>): number {
    const [left, right] = node.args as [Node, Node];
    const meter = this.#meter;
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
    return this.#installAll([left, right], names);
  }

  #negation(node: Node, names: ReadonlySet<string>): number {
    const operand = node.args as Node;
    node.evaluate = (evaluator, _node, context) => {
      const value = operand.evaluate(evaluator, operand, context);
      if (value === undefined) return undefined;
      if (isNumeric(value)) return -value;
      throw new Failure(`-${kindOf(value)} has no meaning`);
    };
    return 1 + this.install(operand, names);
  }

  #logic(node: Node, names: ReadonlySet<string>): number {
    const operands = node.args as [Node, Node];
    const meter = this.#meter;
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
    return this.#installAll(operands, names);
  }

  #not(node: Node, names: ReadonlySet<string>): number {
    const operand = node.args as Node;
    node.setMeta("check", (checker, _node, context) => {
      checker.check(operand, context);
      return checker.boolType;
    });
    node.evaluate = (evaluator, _node, context) => !operand.evaluate(evaluator, operand, context);
    return 1 + this.install(operand, names);
  }

  #choice(node: Node, names: ReadonlySet<string>): number {
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
    return this.#installAll([condition, yes, no], names);
  }

  #list(node: Node, names: ReadonlySet<string>): number {
    const items = node.args as Node[];
    node.evaluate = (evaluator, _node, context) => evaluateAll(items, evaluator, context);
    return this.#installAll(items, names);
  }

  #map(node: Node, names: ReadonlySet<string>): number {
    const parts = (node.args as [Node, Node][]).flat();
    const count = this.#installAll(parts, names);
    for (const part of parts) throwWhenMissing(part);
    const { evaluate } = node.meta;
    node.evaluate = (evaluator, _node, context) => undefinedWhenMissing(() => evaluate(evaluator, node, context));
    return count;
  }

  #call(node: Node, names: ReadonlySet<string>): number {
    const isMethod = node.op === "rcall";
    const [name, ...rest] = node.args as [string, ...unknown[]];
    const operands = (isMethod ? [rest[0], ...(rest[1] as Node[])] : rest[0]) as Node[];
    if (!isMethod && name === "has") return this.#has(node, operands, names);
    if (isMethod && node.meta.alternate !== undefined && macros.has(name)) return this.#macro(node, names);
    if (!(isMethod ? methods : functions).has(name)) throw new Refusal(`the function "${name}" is not supported`);
    if (name === "matches") return this.#matches(node, operands, names);

    const meter = this.#meter;
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
    return this.#installAll(operands, names);
  }

  #has(node: Node, operands: Node[], names: ReadonlySet<string>): number {
    const count = this.#installAll(operands, names);
    const [field] = operands as [Node];
    node.evaluate = (evaluator, _node, context) => field.evaluate(evaluator, field, context) !== undefined;
    return count;
  }

  #matches(node: Node, operands: Node[], names: ReadonlySet<string>): number {
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
    const meter = this.#meter;
    node.evaluate = (evaluator, _node, context) => {
      const value = target.evaluate(evaluator, target, context);
      if (value === undefined) return undefined;
      if (value === null) return meter.note(target, "null");
      if (typeof value !== "string") throw new Failure(`matches() needs text, not ${kindOf(value)}`);
      meter.spend(value.length * costPerCharacter);
      return matcher.test(value);
    };
    return this.#installAll(operands, names);
  }

  #macro(node: Node, names: ReadonlySet<string>): number {
    const [name, target, [variable, ...bodies]] = node.args as [string, Node, [Node, ...Node[]]];
    const loop = node.meta.alternate!;
    const meter = this.#meter;
    let count = 1 + this.install(target, names);
    const innerNames = new Set(names).add(variable.args);
    for (const [i, body] of bodies.entries()) {
      const cost = this.install(body, innerNames);
      count += cost;
      const isValue = name === "map" && i === bodies.length - 1;
      this.#meterBody(body, isValue ? cost + itemCost : cost, isValue);
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
    return count;
  }

  /** A body is a condition, or what map() puts into its list. */
  #meterBody(body: Node, cost: number, isValue: boolean): void {
    const meter = this.#meter;
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
}

const relations: Readonly<Record<string, (a: any, b: any) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

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

const isNullWord = (node: Node): boolean => node.op === "value" && node.args === null;
const isNumeric = (value: unknown): value is number | bigint => typeof value === "number" || typeof value === "bigint";
const isText = (value: unknown): value is string | number | bigint => typeof value === "string" || isNumeric(value);

function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A Timestamp or a Duration. */
const isInstance = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !isContainer(value);

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (isNumeric(value)) return "number";
  return typeof value;
}

// Own properties only: `event.constructor` and `event.__proto__` are missing unless the event's JSON has such a key.
function ownField(holder: unknown, name: string): unknown {
  if (typeof holder !== "object" || holder === null || Array.isArray(holder)) return undefined;
  return Object.hasOwn(holder, name) ? (holder as Record<string, unknown>)[name] : undefined;
}

/** Undefined as soon as one is missing, so that the last part noted as absent is the one that mattered. */
function evaluateAll(nodes: readonly Node[], evaluator: Evaluator, context: Context): unknown[] | undefined {
  const values = new Array<unknown>(nodes.length);
  for (let i = 0; i < nodes.length; i++) {
    const node = nodes[i]!;
    const value = node.evaluate(evaluator, node, context);
    if (value === undefined) return undefined;
    values[i] = value;
  }
  return values;
}

function throwWhenMissing(node: Node): void {
  const { evaluate } = node;
  node.evaluate = (evaluator, _node, context) => {
    const value = evaluate(evaluator, node, context);
    if (value === undefined) throw missing;
    return value;
  };
}

function undefinedWhenMissing(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch (error) {
    if (error === missing) return undefined;
    throw error;
  }
}

// Comparing two equal texts of a megabyte takes 100 µs; 64 characters are a unit.
function chargeText(a: string, b: string, meter: Meter): void {
  const length = Math.min(a.length, b.length);
  if (length > 64) meter.spend(length / 64);
}

function isEqual(a: unknown, b: unknown, meter: Meter): boolean {
  if (typeof a === "string" && typeof b === "string") {
    if (a.length !== b.length) return false;
    chargeText(a, b, meter);
    return a === b;
  }
  if (a === b) return true;
  // biome-ignore lint/suspicious/noDoubleEquals: 1 == 1n is the point
  if (isNumeric(a) && isNumeric(b)) return a == b;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  meter.spend(1);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      meter.spend(1);
      if (!isEqual(a[i], b[i], meter)) return false;
    }
    return true;
  }
  if (a instanceof Date) return b instanceof Date && a.getTime() === b.getTime();
  if (Array.isArray(b)) return false;
  // A Duration is its own properties too: seconds and nanos.
  const keys = Object.keys(a);
  meter.spend(keys.length * 2 * keyCost);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && isEqual(ownField(a, key), ownField(b, key), meter));
}

function join(l: string | number | bigint, r: string | number | bigint, meter: Meter): string {
  const text = `${l}${r}`;
  if (text.length > joinedLengthMax) throw new Failure(`the joined text is longer than ${joinedLengthMax} characters`);
  if (text.length > 64) meter.spend(text.length / 16);
  return text;
}

function sizeOf(value: object, meter: Meter): bigint {
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  if (!Array.isArray(value)) meter.spend(count * keyCost);
  return BigInt(count);
}

/** What a library function may take, from its values before it runs. */
function callCost(name: string, values: readonly unknown[]): number {
  const [first, second] = values;
  if (name === "join" && Array.isArray(first)) {
    let length = first.length * (typeof second === "string" ? second.length : 0);
    for (const item of first) length += typeof item === "string" ? item.length : 0;
    if (length > joinedLengthMax) throw new Failure(`the joined text is longer than ${joinedLengthMax} characters`);
    return first.length + length / 16;
  }
  // The library's pattern for durations backtracks with the cube of the length.
  if (name === "duration" && typeof first === "string" && first.length > 64) {
    throw new Failure("duration() takes at most 64 characters");
  }
  if (name.startsWith("get")) return values.length > 1 ? timeZoneCost : 1;
  let cost = 1;
  for (const value of values) if (typeof value === "string") cost += value.length / 8;
  // V8's search is quadratic at worst: 1e6 × 1e5 characters took 15 s, 0.15 ns for each pair.
  if (searches.has(name) && typeof first === "string" && typeof second === "string") {
    cost += (first.length * second.length) / 256;
  }
  return cost;
}

function compilePattern(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Refusal(`the pattern of matches() cannot be used: ${(error as Error).message}`);
  }
}

/** The sentence for an error that left an evaluation; the library's own carry a marked source line that is left out. */
export function failureReason(error: unknown): string {
  const { summary, message } = error as { summary?: unknown; message?: unknown };
  const text = typeof summary === "string" ? summary : String(message);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
