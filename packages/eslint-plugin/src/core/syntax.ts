// Reading a syntax tree: nothing here knows what a step or an effect is.
import type { TSESTree } from "@typescript-eslint/types";

export type Node = TSESTree.Node;
export type Call = TSESTree.CallExpression | TSESTree.NewExpression;
export type Fn = TSESTree.FunctionDeclaration | TSESTree.FunctionExpression | TSESTree.ArrowFunctionExpression;

export const isFunction = (node: Node | null | undefined): node is Fn =>
  node?.type === "FunctionDeclaration" ||
  node?.type === "FunctionExpression" ||
  node?.type === "ArrowFunctionExpression";

export const isCall = (node: Node | null | undefined): node is Call =>
  node?.type === "CallExpression" || node?.type === "NewExpression";

export const isLoop = (node: Node): boolean =>
  node.type === "ForStatement" ||
  node.type === "ForOfStatement" ||
  node.type === "ForInStatement" ||
  node.type === "WhileStatement" ||
  node.type === "DoWhileStatement";

/** The expression without what only types, chains and brackets put around it. */
export function bare(node: Node): Node {
  switch (node.type) {
    case "TSAsExpression":
    case "TSNonNullExpression":
    case "TSSatisfiesExpression":
    case "TSTypeAssertion":
    case "TSInstantiationExpression":
    case "ChainExpression":
      return bare(node.expression);
    default:
      return (node.type as string) === "ParenthesizedExpression"
        ? bare((node as unknown as { expression: Node }).expression)
        : node;
  }
}

/** The same, and without `await`. */
export function settled(node: Node): Node {
  const plain = bare(node);
  return plain.type === "AwaitExpression" ? settled(plain.argument) : plain;
}

export function* ancestors(node: Node): Generator<Node> {
  for (let at = node.parent; at; at = at.parent) yield at;
}

export const isWithin = (node: Node, outer: Node): boolean =>
  node.range[0] >= outer.range[0] && node.range[1] <= outer.range[1];

export function enclosingFunction(node: Node): Fn | null {
  for (const each of ancestors(node)) if (isFunction(each)) return each;
  return null;
}

const hidden = new Set(["parent", "loc", "range", "tokens", "comments", "type"]);

export function* childrenOf(node: Node): Generator<Node> {
  for (const [name, value] of Object.entries(node)) {
    if (hidden.has(name) || value === null || typeof value !== "object") continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && typeof each === "object" && typeof each.type === "string") yield each as Node;
    }
  }
}

/** All nodes below and including it, in the order of the source. `enter` false: not what is below this one. */
export function* descend(node: Node, enter: (node: Node) => boolean = () => true): Generator<Node> {
  yield node;
  if (!enter(node)) return;
  for (const child of childrenOf(node)) yield* descend(child, enter);
}

/** Code that runs as part of it: not what only a function inside it would run. */
export const descendHere = (node: Node): Generator<Node> => descend(node, (each) => each === node || !isFunction(each));

/** "run" of `step.run` and `step["run"]`. */
export function memberName(node: Node): string | null {
  if (node.type !== "MemberExpression") return null;
  if (!node.computed) return node.property.type === "Identifier" ? node.property.name : null;
  return node.property.type === "Literal" && typeof node.property.value === "string" ? node.property.value : null;
}

export function keyName(property: TSESTree.Property | TSESTree.ObjectLiteralElement): string | null {
  if (property.type !== "Property") return null;
  if (!property.computed && property.key.type === "Identifier") return property.key.name;
  return property.key.type === "Literal" ? String(property.key.value) : null;
}

export function propertyOf(object: TSESTree.ObjectExpression, name: string): TSESTree.Property | null {
  for (const each of object.properties) if (each.type === "Property" && keyName(each) === name) return each;
  return null;
}

export function patternProperty(pattern: TSESTree.ObjectPattern, name: string): TSESTree.Property | null {
  for (const each of pattern.properties) if (each.type === "Property" && keyName(each) === name) return each;
  return null;
}

/** A text that is the same each time; null where parts of it are not written here. */
export function textOf(node: Node | null | undefined): string | null {
  if (!node) return null;
  const plain = bare(node);
  if (plain.type === "Literal" && typeof plain.value === "string") return plain.value;
  if (plain.type === "TemplateLiteral" && plain.expressions.length === 0) return plain.quasis[0]?.value.cooked ?? null;
  return null;
}

/** The written parts of a text, with a blank for each of the others; null for no text. */
export function writtenText(node: Node | null | undefined): string | null {
  if (!node) return null;
  const plain = bare(node);
  if (plain.type === "TemplateLiteral") return plain.quasis.map(({ value }) => value.cooked ?? value.raw).join(" ");
  if (plain.type === "TaggedTemplateExpression") return writtenText(plain.quasi);
  if (plain.type === "BinaryExpression" && plain.operator === "+") {
    const [left, right] = [writtenText(plain.left), writtenText(plain.right)];
    return left === null && right === null ? null : `${left ?? " "}${right ?? " "}`;
  }
  return textOf(plain);
}

/** `stripe.invoices.create`, for a message. */
export function nameOf(node: Node): string {
  const plain = bare(node);
  switch (plain.type) {
    case "Identifier":
      return plain.name;
    case "ThisExpression":
      return "this";
    case "MemberExpression": {
      const object = nameOf(plain.object);
      const name = memberName(plain);
      return name === null ? object : object === "" ? name : `${object}.${name}`;
    }
    case "CallExpression":
      return isCall(bare(plain.callee)) ? nameOf(plain.callee) : `${nameOf(plain.callee)}()`;
    case "NewExpression":
      return nameOf(plain.callee);
    case "AwaitExpression":
      return nameOf(plain.argument);
    case "TaggedTemplateExpression":
      return nameOf(plain.tag);
    default:
      return "";
  }
}

/** The arguments that are expressions; a spread ends what is known of their places. */
export function argumentsOf(call: Call): TSESTree.Expression[] {
  const at = call.arguments.findIndex(({ type }) => type === "SpreadElement");
  return (at === -1 ? call.arguments : call.arguments.slice(0, at)) as TSESTree.Expression[];
}

export const hasSpread = (call: Call): boolean => call.arguments.some(({ type }) => type === "SpreadElement");

/** In two branches of which one is taken: of one statement, or because the first one leaves. */
export function isEither(one: Node, other: Node): boolean {
  for (const each of ancestors(one)) {
    if (isFunction(each)) continue;
    const branches = branchesOf(each);
    const mine = branches.find((branch) => isWithin(one, branch));
    if (mine === undefined) continue;
    const theirs = branches.find((branch) => isWithin(other, branch));
    if (theirs !== undefined && theirs !== mine) return true;
    if (each.type === "IfStatement" && exits(mine) && other.range[0] > each.range[1]) return true;
  }
  return false;
}

function branchesOf(node: Node): Node[] {
  switch (node.type) {
    case "IfStatement":
    case "ConditionalExpression":
      return [node.consequent, node.alternate].filter((each) => each !== null);
    case "SwitchStatement":
      return node.cases;
    case "TryStatement":
      return node.handler === null ? [] : [node.block, node.handler];
    default:
      return [];
  }
}

/** Whether it leaves the function, or the turn of a loop, in any case. */
export function exits(node: Node | null): boolean {
  if (node === null) return false;
  if (node.type === "BlockStatement") return exits(node.body.at(-1) ?? null);
  return (
    node.type === "ReturnStatement" ||
    node.type === "ThrowStatement" ||
    node.type === "ContinueStatement" ||
    node.type === "BreakStatement"
  );
}

export function hasThrow(node: Node): boolean {
  for (const each of descendHere(node)) if (each.type === "ThrowStatement") return true;
  return false;
}

const rounds = /^(map|forEach|flatMap|reduce|filter|some|every)$/;

/** The loop it is in, or the callback that is called for each part of a list, below `within`. */
export function loopAround(node: Node, within: Node): Node | null {
  for (const each of ancestors(node)) {
    if (each === within) return null;
    if (isLoop(each)) return each;
    const callee = isFunction(each) && isCall(each.parent) ? bare(each.parent.callee) : null;
    if (callee !== null && rounds.test(memberName(callee) ?? "")) return each.parent ?? null;
  }
  return null;
}
