// The data of an event that a run waits for, so that the wait's own condition holds: read out of the condition where that can be done, and tried with it. Pure.
import { compileExpression, type Expression } from "../model/expression.ts";
import type { Node } from "../model/expression-node.ts";
import { evaluateFilter } from "../model/expression-outcome.ts";
import { canonicalJson, valueAt } from "../model/json.ts";
import type { Json } from "./thing.ts";

export interface Awaiting {
  /** Of the event. */
  readonly name: string;
  readonly match?: string;
  readonly if?: string;
  /** The run's own event, as its code sees it. */
  readonly event: { readonly data?: Json };
  /** Written down by the user; undefined for nothing. */
  readonly given?: Json;
}

/** One field of the arriving event. */
interface Put {
  readonly path: readonly string[];
  readonly value: Json;
}

/** Alternatives, each a set of fields put together. */
type Ways = readonly (readonly Put[])[];

/** More ways than anybody writes a condition in. */
const waysMax = 256;

const isRecord = (value: unknown): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The data, or null where none could be made for which the wait would end. */
export function awaitedData({ name, match, if: condition, event, given }: Awaiting): { readonly data: Json } | null {
  const own = event.data ?? null;
  const base = isRecord(own) && isRecord(given) ? { ...own, ...given } : (given ?? own);
  const matched = match === undefined ? [] : [{ path: match.split("."), value: valueAt(event, match) as Json }];
  const start = putAll(base, matched);
  if (start === null || matched.some(({ value }) => value === null)) return null;
  if (condition === undefined) return { data: start };
  const expression = readable(condition);
  if (expression === null) return { data: start };
  const holds = (data: Json): boolean => {
    const async = scope.arriving(data);
    const isMatched = matched.every(({ value }) => canonicalJson(valueAt(async, match!)) === canonicalJson(value));
    return isMatched && evaluateFilter(expression, { event, async }).pass;
  };
  const scope = { expression, event, arriving: (data: Json) => ({ name, id: "awaited", ts: 0, data }), start };
  for (const way of [[], ...waysTo(expression.root, true, scope)]) {
    const data = putAll(start, way);
    if (data !== null && holds(data)) return { data };
  }
  return null;
}

/** Null for what the engine refuses: the step itself says so. */
function readable(text: string): Expression | null {
  try {
    return compileExpression(text);
  } catch {
    return null;
  }
}

/** Null where something else than the data would have to be another. */
function putAll(data: Json, puts: readonly Put[]): Json | null {
  let all: Json = data;
  for (const { path, value } of puts) {
    if (path[0] !== "data") return null;
    all = put(all, path.slice(1), value);
  }
  return all;
}

function put(holder: Json, [name, ...rest]: readonly string[], value: Json): Json {
  if (name === undefined) return value;
  if (Array.isArray(holder))
    return holder.map((each, i) => (String(i) === name ? put(each as Json, rest, value) : each));
  const record = isRecord(holder) ? holder : {};
  return { ...record, [name]: put(record[name] ?? null, rest, value) };
}

interface Scope {
  readonly expression: Expression;
  readonly event: unknown;
  readonly arriving: (data: Json) => object;
  /** The data before anything was put there for the condition. */
  readonly start: Json;
}

/** Ways to make this part true, or false; the last puts nothing, since another part's fields may do. */
function waysTo(node: Node, wanted: boolean, scope: Scope): Ways {
  switch (node.op) {
    case "&&":
    case "||": {
      const [left, right] = (node.args as [Node, Node]).map((each) => waysTo(each, wanted, scope)) as [Ways, Ways];
      const isBoth = (node.op === "&&") === wanted;
      return isBoth
        ? left.flatMap((one) => right.map((two) => [...one, ...two])).slice(0, waysMax)
        : [...left, ...right];
    }
    case "!_":
      return waysTo(node.args as Node, !wanted, scope);
    default: {
      const tried = putsFor(node, scope).filter((each) => {
        const data = putAll(scope.start, [each]);
        if (data === null) return false;
        const found = scope.expression.evaluate({ event: scope.event, async: scope.arriving(data) }, node);
        return found.ok && found.value === wanted;
      });
      return [...tried.map((each) => [each]), []];
    }
  }
}

/** One field each that may make it true, or false. */
function putsFor(node: Node, scope: Scope): Put[] {
  switch (node.op) {
    case "==":
    case "!=":
    case "<":
    case "<=":
    case ">":
    case ">=":
      return compared(node, scope, around);
    case "in":
      return compared(node, scope, (known) => (Array.isArray(known) ? (known as Json[]) : []));
    case "call":
    case "rcall":
      return called(node, scope);
    default: {
      const path = pathOf(node);
      return path === null ? [] : [true, false].map((value) => ({ path, value }));
    }
  }
}

function called(node: Node, scope: Scope): Put[] {
  const [name, ...rest] = node.args as [string, ...unknown[]];
  if (node.op === "call") {
    const path = name === "has" ? pathOf((rest[0] as Node[])[0]!) : null;
    return path === null ? [] : [{ path, value: "given" }];
  }
  // Of a text that it begins with, ends with, or has in it: that text.
  const path = pathOf(rest[0] as Node);
  const [argument] = rest[1] as Node[];
  const value = path === null || argument === undefined ? undefined : knownValue(argument, scope);
  return path === null || value === undefined ? [] : [{ path, value }];
}

/** A path into what arrives on one side, on the other something that is known. */
function compared(node: Node, scope: Scope, values: (known: Json) => readonly Json[]): Put[] {
  const [left, right] = node.args as [Node, Node];
  for (const [asked, side] of [
    [left, right],
    [right, left],
  ] as const) {
    const path = pathOf(asked);
    const known = path === null ? undefined : knownValue(side, scope);
    if (path !== null && known !== undefined) return values(known).map((value) => ({ path, value }));
  }
  return [];
}

/** The value itself, and what is next to it. */
function around(value: Json): readonly Json[] {
  if (typeof value === "number") return [value, value + 1, value - 1];
  if (typeof value === "boolean") return [value, !value];
  return value === null ? [null, "given"] : [value, `${String(value)}~`, ""];
}

/** Of what does not depend on the arriving event; undefined otherwise. */
function knownValue(node: Node, { expression, event }: Scope): Json | undefined {
  const found = expression.evaluate({ event }, node);
  return found.ok ? (found.value as Json) : undefined;
}

/** The names after `async`; null for what is no path into it. */
function pathOf(node: Node): string[] | null {
  if (node.op === "id") return node.args === "async" ? [] : null;
  if (node.op !== "." && node.op !== "[]") return null;
  const [holder, at] = node.args as [Node, Node | string];
  const path = pathOf(holder);
  const name = typeof at === "string" ? at : at.op === "value" ? String(at.args) : null;
  return path === null || name === null ? null : [...path, name];
}
