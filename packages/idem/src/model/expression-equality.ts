// An event meets many expressions at once, one for each run that waits. Most of them ask for one equality, such as
// `async.data.orderId == event.data.orderId`; taken out, a store finds its runs by an index and evaluates nothing else.
//
// A taken equality must hold wherever the whole expression is true, and nothing else is asked of it: what is left is evaluated.
// Only where the equality is the whole expression, and the index compares exactly as the dialect does, is nothing left.

import type { Expression } from "./expression.ts";
import type { Node } from "./expression-node.ts";
import { canonicalJson } from "./json.ts";

/** An event matches when its value at `path` is this canonical JSON (any value, for the path "") and `rest` is true. */
export interface TakenEquality {
  readonly path: string;
  readonly value: string;
  /** CEL over `event` and `async`; null for nothing. */
  readonly rest: string | null;
}

export const anyEvent: TakenEquality = { path: "", value: "", rest: null };

/** With no equality taken out: every event is evaluated. */
export const wholeExpression = (text: string): TakenEquality => ({ path: "", value: "", rest: text });

// No event is looked up by null (probesOf), so a run under it is never found.
const neverFound = "null";
// An index entry has to fit a page, in PostgreSQL a third of one: 2,704 bytes.
const pathLengthMax = 256;
const valueLengthMax = 512;
// Each side may take as long as an evaluation may.
const sidesTriedMax = 8;

interface Equality {
  readonly path: string;
  readonly side: Node;
  /** Whether the side depends on the run's event: a value that all runs share finds all of them. */
  readonly isOfRun: boolean;
  readonly isExact: boolean;
}

/** `event`: the run's own, as user code sees it. */
export function takeEquality(expression: Expression, event: unknown): TakenEquality {
  const { root, text } = expression;
  let shared: TakenEquality | undefined;
  for (const { path, side, isOfRun, isExact } of equalitiesIn(root)) {
    const evaluation = expression.evaluate({ event }, side);
    // An equality with a side that is missing or fails is never true, nor is what it is a part of.
    if (!evaluation.ok) return { path, value: neverFound, rest: text };
    const value = indexedText(evaluation.value);
    if (value === undefined) continue;
    const taken = { path, value, rest: isExact ? null : text };
    if (isOfRun && typeof evaluation.value !== "boolean") return taken;
    shared ??= taken;
  }
  return shared ?? wholeExpression(text);
}

/** Those that the whole expression cannot be true without, the ones that depend on the run first. */
function equalitiesIn(root: Node): Equality[] {
  const found: Equality[] = [];
  const visit = (node: Node): void => {
    if (node.op === "&&") for (const operand of node.args as Node[]) visit(operand);
    else if (node.op === "==") {
      const equality = readEquality(node, root);
      if (equality !== undefined) found.push(equality);
    }
  };
  visit(root);
  const ofRun = found.filter(({ isOfRun }) => isOfRun);
  return [...ofRun, ...found.filter(({ isOfRun }) => !isOfRun)].slice(0, sidesTriedMax);
}

function readEquality(node: Node, root: Node): Equality | undefined {
  const [left, right] = node.args as [Node, Node];
  for (const [asked, side] of [
    [left, right],
    [right, left],
  ] as const) {
    const parts = partsOf(asked);
    if (parts === undefined || parts.length === 0 || mentions(side, "async")) continue;
    const path = parts.join(".");
    if (path.length > pathLengthMax) continue;
    // A side that is computed may come near what an evaluation may cost, and a list has fields by the path that it does not
    // have in the dialect.
    const isExact = node === root && isPlain(side) && !parts.some(isFieldOfList);
    return { path, side, isOfRun: mentions(side, "event"), isExact };
  }
  return undefined;
}

/** The names after `async`; undefined for what is no path, or one that valueAt or a store would read otherwise. */
function partsOf(node: Node): string[] | undefined {
  if (node.op === "id") return node.args === "async" ? [] : undefined;
  if (node.op !== "." && node.op !== "[]") return undefined;
  const parts = partsOf(node.args[0]);
  const name = node.op === "." ? node.args[1] : indexOf(node.args[1]);
  // No text column keeps half a surrogate pair, and some keep no control characters.
  if (parts === undefined || typeof name !== "string" || name === "" || /[.\p{Cc}\p{Cs}]/u.test(name)) return undefined;
  parts.push(name);
  return parts;
}

function indexOf(at: Node): string | undefined {
  if (at.op !== "value") return undefined;
  if (typeof at.args === "bigint" && at.args >= 0n) return String(at.args);
  return typeof at.args === "string" ? at.args : undefined;
}

const isFieldOfList = (name: string): boolean => name === "length" || /^\d+$/.test(name);

/** A literal, or a path into the event. */
function isPlain(node: Node): boolean {
  if (node.op === "value" || node.op === "id") return true;
  if (node.op === "-_") return (node.args as Node).op === "value";
  if (node.op === ".") return isPlain(node.args[0]);
  return node.op === "[]" && isPlain(node.args[0]) && indexOf(node.args[1]) !== undefined;
}

/** Whether the name stands anywhere in it, be it for a variable of a macro. */
function mentions(part: unknown, name: string): boolean {
  if (Array.isArray(part)) return part.some((each) => mentions(each, name));
  if (typeof part !== "object" || part === null) return false;
  const { op, args } = part as Node;
  return op === "id" ? args === name : mentions(args, name);
}

/** Undefined for values that are equal to others than those of the same canonical JSON, and for too long ones. */
function indexedText(value: unknown): string | undefined {
  if (
    typeof value === "string" ? value.length > valueLengthMax : typeof value !== "boolean" && !Number.isFinite(value)
  ) {
    return undefined;
  }
  const text = canonicalJson(value);
  return text.length > valueLengthMax ? undefined : text;
}
