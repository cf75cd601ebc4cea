// The parts of an expression: the variables in it, what those were made of, and what helpers of the file return.
import type { TSESTree } from "@typescript-eslint/types";
import type { Durable } from "./durable.ts";
import type { Names } from "./names.ts";
import {
  argumentsOf,
  bare,
  type Call,
  childrenOf,
  descendHere,
  isCall,
  isFunction,
  memberName,
  type Node,
  nameOf,
  settled,
} from "./syntax.ts";

export interface Traced {
  readonly names: Names;
  readonly durable: Durable;
}

/** The first part for which `look` says something; parts of a step's recorded value are not looked at, for it is the same each time. */
export function trace<T>(file: Traced, node: Node, look: (part: Node) => T | null, seen = new Set<Node>()): T | null {
  const plain = settled(node);
  if (seen.has(plain)) return null;
  seen.add(plain);
  const found = look(plain);
  if (found !== null) return found;
  if (file.durable.stepOf(plain) !== null) return null;
  if (plain.type === "Identifier") {
    for (const value of file.names.valuesOf(plain)) {
      if (isFunction(bare(value.node))) continue;
      const inValue = trace(file, member(file, value.node, value.path), look, seen);
      if (inValue !== null) return inValue;
    }
    return null;
  }
  if (isCall(plain)) {
    for (const part of [plain.callee as Node, ...argumentsOf(plain)]) {
      const fn = part === plain.callee ? file.names.functionOf(part) : isFunction(bare(part)) ? bare(part) : null;
      for (const each of fn === null ? [part] : returned(fn)) {
        const inPart = trace(file, each, look, seen);
        if (inPart !== null) return inPart;
      }
    }
    return null;
  }
  for (const child of childrenOf(plain)) {
    if (isFunction(child) || child.type.startsWith("TS")) continue;
    // `{ key: value }` and `object.member` have names that are no variables.
    if (plain.type === "Property" && child === plain.key && !plain.computed) continue;
    if (plain.type === "MemberExpression" && child === plain.property && !plain.computed) continue;
    const inChild = trace(file, child, look, seen);
    if (inChild !== null) return inChild;
  }
  return null;
}

/** `invoice.id` where invoice is written here: what it has for id. */
function member(file: Traced, node: Node, path: readonly string[]): Node {
  let at = node;
  for (const name of path) {
    const object = file.names.objectOf(at);
    const property = object?.properties.find(
      (each) => each.type === "Property" && !each.computed && nameOf(each.key) === name,
    );
    if (property?.type !== "Property") return node;
    at = property.value;
  }
  return at;
}

function returned(fn: Node): Node[] {
  if (!isFunction(fn)) return [];
  if (fn.body.type !== "BlockStatement") return [fn.body];
  const answers: Node[] = [];
  for (const each of descendHere(fn.body))
    if (each.type === "ReturnStatement" && each.argument !== null) answers.push(each.argument);
  return answers;
}

export interface Volatile {
  readonly node: Node;
  readonly kind: "time" | "chance" | "counter";
  readonly what: string;
}

const chanceCalls =
  /^(randomUUID|uuid|uuidv[1-8]|v[14567]|nanoid|customAlphabet|cuid|createId|ulid|randomBytes|randomInt|getRandomValues|monotonicFactory|ksuid)$/;
const chanceModules = /^(uuid|nanoid|cuid|@paralleldrive\/cuid2|ulid|ulidx|short-uuid|ksuid|(node:)?crypto|shortid)$/;

/** Chance or time in it: another value each time it is computed. */
export function volatileIn(file: Traced, node: Node): Volatile | null {
  return trace(file, node, (part) => volatileItself(file, part));
}

export function volatileItself(file: Traced, part: Node): Volatile | null {
  if (part.type === "Identifier") return counter(file, part);
  if (!isCall(part)) return null;
  const callee = bare(part.callee);
  const what = `${part.type === "NewExpression" ? "new " : ""}${nameOf(callee)}()`;
  const global = globalCall(file.names, part, callee);
  if (global !== null) return { node: part, kind: global, what };
  const { module, root, names, path } = file.names.sourceOf(callee);
  const name = path.at(-1) ?? root;
  const isChance =
    module === null
      ? chanceCalls.test(name) || names.some((each) => chanceCalls.test(each) && path.length === 0)
      : chanceModules.test(module) && (chanceCalls.test(name) || name === "default" || path.length === 0);
  if (module !== null && !chanceModules.test(module)) return null;
  if (
    /^(createHash|createHmac|hash|timingSafeEqual|createSign|validate|parse|v3|v5)$/.test(
      path.find((each) => each !== "()") ?? root,
    )
  )
    return null;
  return isChance ? { node: part, kind: "chance", what } : null;
}

function globalCall(names: Names, call: Call, callee: Node): "time" | "chance" | null {
  if (names.isGlobal(callee, "Date")) return argumentsOf(call).length === 0 ? "time" : null;
  if (callee.type !== "MemberExpression") return null;
  const name = memberName(callee);
  if (names.isGlobal(callee.object, "Date")) return name === "now" ? "time" : null;
  if (names.isGlobal(callee.object, "Math")) return name === "random" ? "chance" : null;
  if (names.isGlobal(callee.object, "performance")) return name === "now" ? "time" : null;
  if (names.isGlobal(callee.object, "crypto"))
    return name === "randomUUID" || name === "getRandomValues" ? "chance" : null;
  return names.isGlobal(callee.object, "process") && name === "hrtime" ? "time" : null;
}

/** A variable of the module that is written while functions run: it begins anew with every process. */
function counter(file: Traced, id: TSESTree.Identifier): Volatile | null {
  const variable = file.names.variable(id);
  const def = variable?.defs[0];
  if (!variable || def?.type !== "Variable" || !/^(module|global)$/.test(variable.scope.type)) return null;
  const isCounted = variable.references.some((reference) => reference.isWrite() && !reference.init);
  return isCounted ? { node: id, kind: "counter", what: id.name } : null;
}
