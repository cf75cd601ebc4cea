// An expression's value as a key, or as a filter's answer. Apart from what compiles one, which a store's thread never does.
import { createHash } from "node:crypto";
import type { Expression, ExpressionScope } from "./expression.ts";
import { canonicalJson, jsonDepthMax } from "./json.ts";
import { chargeCost } from "./metered-cost.ts";

// A key this long is a document; its hash says the same in 64 characters.
const keyLengthMax = 1_024;
const keyPrefixLength = 64;
// Writing and hashing this much text takes about 3 ms, and is as much as an event may carry.
const keySourceLengthMax = 524_288;
// Each is looked at, and an object's names are sorted: about 100 ns.
const keyNodesMax = 33_000;
const keyNodeCost = 3;

export type KeyEvaluation =
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "missing"; readonly reason: string }
  | { readonly kind: "failed"; readonly reason: string };

/** The canonical JSON of the value: the number 1 and the string "1" are different keys, 1 and 1.0 the same. */
export function evaluateKey(expression: Expression, scope: ExpressionScope): KeyEvaluation {
  const evaluation = expression.evaluate(scope);
  const shown = shorten(expression.text);
  if (!evaluation.ok) {
    if (evaluation.why === "missing") return { kind: "missing", reason: `key \`${shown}\`: ${evaluation.message}` };
    return { kind: "failed", reason: `key \`${shown}\` failed: ${evaluation.message}` };
  }
  const { value } = evaluation;
  if (value === null) return { kind: "missing", reason: `key \`${shown}\` is null` };
  // A null inside a list written as the key is a missing part, just as it is inside `+`.
  if (expression.isComposite && Object.values(value as object).includes(null)) {
    return { kind: "missing", reason: `key \`${shown}\`: a part of it is null` };
  }
  const used = { nodes: 0, length: 0 };
  const text = keyText(value, used, 0);
  chargeCost(used.nodes * keyNodeCost + used.length / 8);
  if (text === undefined) {
    return { kind: "failed", reason: `key \`${shown}\` failed: its value is not JSON, or too large for a key` };
  }
  return { kind: "key", key: text.length > keyLengthMax ? shortenKey(text) : text };
}

/** Undefined for what JSON cannot carry, and past the bounds: a list built by map() can hold one big value many times. */
function keyText(value: unknown, used: { nodes: number; length: number }, depth: number): string | undefined {
  if (++used.nodes > keyNodesMax || depth > jsonDepthMax || used.length > keySourceLengthMax) return undefined;
  switch (typeof value) {
    case "string":
      used.length += value.length;
      return used.length > keySourceLengthMax ? undefined : JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? JSON.stringify(value) : undefined;
    case "bigint":
      return String(value);
    case "boolean":
      return String(value);
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return "null";
  if (value instanceof Date) return JSON.stringify(value);
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) {
      const text = keyText(item, used, depth + 1);
      if (text === undefined) return undefined;
      parts.push(text);
    }
    return `[${parts.join(",")}]`;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  for (const name of Object.keys(value).sort()) {
    used.length += name.length;
    const text = keyText((value as Record<string, unknown>)[name], used, depth + 1);
    if (text === undefined) return undefined;
    parts.push(`${canonicalJson(name)}:${text}`);
  }
  return `{${parts.join(",")}}`;
}

/** Its start, for people, and a hash of all of it, for equality. */
function shortenKey(text: string): string {
  // A cut between two surrogates would leave half a character, which no store gives back as it was.
  const prefix = text.slice(0, keyPrefixLength).replace(/[\uD800-\uDBFF]$/, "");
  return `${prefix}…${createHash("sha256").update(text).digest("hex")}`;
}

export interface FilterEvaluation {
  readonly pass: boolean;
  /** Why it did not pass. */
  readonly reason?: string;
  /** It was not false: it could not be decided. */
  readonly failed?: true;
}

const passed: FilterEvaluation = { pass: true };

/** Only true passes: what cannot be decided does not start anything. */
export function evaluateFilter(expression: Expression, scope: ExpressionScope): FilterEvaluation {
  const evaluation = expression.evaluate(scope);
  if (evaluation.ok && evaluation.value === true) return passed;
  const shown = `filter \`${shorten(expression.text)}\``;
  if (!evaluation.ok) {
    const reason =
      evaluation.why === "failed" ? `${shown} failed: ${evaluation.message}` : `${shown}: ${evaluation.message}`;
    return { pass: false, reason, failed: true };
  }
  if (evaluation.value === false) return { pass: false, reason: `${shown} is false` };
  return { pass: false, reason: `${shown} is neither true nor false`, failed: true };
}

/** For people. */
export function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
