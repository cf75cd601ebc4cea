// JSON that carries a value whole or not at all. JSON.stringify turns NaN into null, a Map or a Response into {} and drops functions;
// a value that went into a memo must come out of it the same, so those are refused with the path at which they stand.

import { types } from "node:util";
import { errors, IdemError } from "./errors.ts";
import { markLost, WrittenNumber } from "./long-number.ts";

/** Deeper values overflow somebody's stack: ours, a database's, a dashboard's. */
export const jsonDepthMax = 64;
/** A walk over this many values takes about 5 ms; more in one value belongs in a file or a table. */
export const jsonNodeCountMax = 100_000;
// A path is for reading; a key can be as long as its sender likes.
const pathLengthMax = 256;

type Path = (string | number)[];

/**
 * As toJson, for what came from outside: numbers that were kept as they were written stay so, and integers past 2^53 that are JavaScript's own
 * numbers are marked as having lost their digits.
 */
export const toMarkedJson = (value: unknown, where: string): string => writeJson(value, where, true);

/** `where` names the value in the error, such as `Step "charge"`. */
export const toJson = (value: unknown, where: string): string => writeJson(value, where, false);

function writeJson(value: unknown, where: string, isMarked: boolean): string {
  // Plain data is by far the common case: one walk without paths, then the engine's own writer.
  const budget = { left: jsonNodeCountMax };
  let isPlain: boolean;
  try {
    isPlain = isPlainJson(value, 0, budget);
  } catch {
    // A getter threw. The careful writer meets it again and knows its path.
    isPlain = false;
  }
  if (isPlain) {
    const text = JSON.stringify(value) ?? "null";
    return isMarked ? markLost(text) : text;
  }
  const writer = new CarefulWriter(where, isMarked);
  try {
    return writer.write(value, "", 0) ?? "null";
  } catch (error) {
    if (error instanceof IdemError) throw error;
    throw writer.refusal(`reading it failed: ${error instanceof Error ? error.message : String(error)}`, error);
  }
}

/** True when JSON.stringify writes the value without changing it. */
function isPlainJson(value: unknown, depth: number, budget: { left: number }): boolean {
  if (--budget.left < 0) return false;
  switch (typeof value) {
    case "string":
    case "boolean":
    case "undefined":
      return true;
    case "number":
      // -0 is written as 0 by JSON.stringify; 1 / -0 tells the two apart.
      return Number.isFinite(value) && (value !== 0 || 1 / value > 0);
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth >= jsonDepthMax) return false;
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return false;
    for (let i = 0; i < value.length; i++) if (!isPlainJson(value[i], depth + 1, budget)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) return !Number.isNaN((value as Date).getTime()) && !Object.hasOwn(value, "toJSON");
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key of Object.keys(value)) {
    if (!isPlainJson((value as Record<string, unknown>)[key], depth + 1, budget)) return false;
  }
  return true;
}

/** Checks and writes in one pass, so a getter or toJSON is asked once and what was checked is what is written. */
class CarefulWriter {
  readonly #where: string;
  readonly #path: Path = [];
  readonly #ancestors: object[] = [];
  #nodeCount = 0;

  readonly #isMarked: boolean;

  constructor(where: string, isMarked: boolean) {
    this.#where = where;
    this.#isMarked = isMarked;
  }

  refusal(why: string, cause?: unknown): IdemError {
    const facts = { where: this.#where, path: renderPath(this.#path), why };
    return errors.VALUE_UNSERIALIZABLE(facts, cause === undefined ? {} : { cause });
  }

  /** Undefined for a value that an object leaves out. */
  write(given: unknown, key: string, depth: number): string | undefined {
    if (++this.#nodeCount > jsonNodeCountMax) throw this.refusal(`it has more than ${jsonNodeCountMax} values`);
    let value = given;
    if (value instanceof WrittenNumber) return value.text;
    if (typeof value === "object" && value !== null) {
      if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) {
        throw this.refusal('it is binary; write it as text first, such as buffer.toString("base64")');
      }
      if (types.isDate(value) && Number.isNaN(value.getTime())) throw this.refusal("it is an invalid Date");
      const { toJSON } = value as { toJSON?: unknown };
      if (typeof toJSON === "function") value = toJSON.call(value, key);
    }
    switch (typeof value) {
      case "undefined":
        return undefined;
      case "string":
      case "boolean":
        return JSON.stringify(value);
      case "number":
        return this.#writeNumber(value);
      case "bigint":
        throw this.refusal("it is a BigInt; write it as a string or a number");
      case "function":
        throw this.refusal("it is a function");
      case "symbol":
        throw this.refusal("it is a symbol");
      case "object":
        return value === null ? "null" : this.#writeObject(value, depth);
    }
  }

  #writeNumber(value: number): string {
    if (!Number.isFinite(value)) throw this.refusal(`it is ${value}`);
    if (Object.is(value, -0)) return "-0";
    return this.#isMarked ? markLost(String(value)) : String(value);
  }

  #writeObject(value: object, depth: number): string {
    if (types.isBoxedPrimitive(value)) return this.write(value.valueOf(), "", depth) ?? "null";
    const kind = refusedKind(value) ?? keptNothingOf(value);
    if (kind !== undefined) throw this.refusal(kind);
    if (this.#ancestors.includes(value)) throw this.refusal("it contains itself");
    if (depth >= jsonDepthMax) throw this.refusal(`it is nested deeper than ${jsonDepthMax} levels`);
    this.#ancestors.push(value);
    const text = Array.isArray(value) ? this.#writeList(value, depth) : this.#writeFields(value, depth);
    this.#ancestors.pop();
    return text;
  }

  #writeList(list: unknown[], depth: number): string {
    const parts: string[] = [];
    for (let i = 0; i < list.length; i++) {
      this.#path.push(i);
      parts.push(this.write(list[i], String(i), depth + 1) ?? "null");
      this.#path.pop();
    }
    return `[${parts.join(",")}]`;
  }

  #writeFields(value: object, depth: number): string {
    const parts: string[] = [];
    for (const key of Object.keys(value)) {
      this.#path.push(key);
      const text = this.write((value as Record<string, unknown>)[key], key, depth + 1);
      if (text !== undefined) parts.push(`${JSON.stringify(key)}:${text}`);
      this.#path.pop();
    }
    return `{${parts.join(",")}}`;
  }
}

// Asked of the engine rather than by instanceof, which says no to a Map from another realm (vm, test runners).
function refusedKind(value: object): string | undefined {
  if (types.isMap(value)) return "it is a Map; Object.fromEntries(map) or [...map] can be kept";
  if (types.isSet(value)) return "it is a Set; [...set] can be kept";
  if (types.isRegExp(value)) return "it is a RegExp";
  if (types.isPromise(value)) return "it is a Promise; await it first";
  if (types.isWeakMap(value) || types.isWeakSet(value)) return "it is a weak collection";
  return undefined;
}

// Ways to keep what the web's own classes hold, by the name they give themselves in every realm.
const howToKeep: Readonly<Record<string, string>> = {
  Response: "return await response.json(), or { status: response.status }",
  Request: "return await request.json(), or { url: request.url }",
  Headers: "return Object.fromEntries(headers)",
  FormData: "return Object.fromEntries(form)",
  URLSearchParams: "return String(params)",
  Blob: "return await blob.text()",
  File: "return await file.text()",
  ReadableStream: "read it first",
  Generator: "return [...values]",
  AsyncGenerator: "collect its values first",
};

/**
 * An instance without a field of its own is written as {}: what it is stands in private fields, getters or symbols. Of an error the
 * message is left out, whatever else it has. Instances whose fields are written stay welcome.
 */
function keptNothingOf(value: object): string | undefined {
  if (types.isNativeError(value)) {
    return "it is an Error, whose message JSON leaves out; throw it, or return { message: error.message }";
  }
  if (Array.isArray(value)) return undefined;
  const prototype = Object.getPrototypeOf(value);
  // A prototype that has none is Object's, in whichever realm.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  const how = howToKeep[tag];
  if (how === undefined && Object.keys(value).length > 0) return undefined;
  const name = tag === "Object" ? prototype.constructor?.name || tag : tag;
  return `it is a ${name}, of which JSON keeps nothing; ${how ?? "return a plain object with what you need, or give it a toJSON()"}`;
}

/** Whether a value from JSON is an object with fields, not a list. */
export const isJsonObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * JSON.parse makes a key "__proto__" an ordinary own property and never calls the setter of that name, so it changes no
 * prototype. Copy such values with structuredClone or spread, which keep it so; `target[key] = …` in a loop does not.
 */
export function fromJson(text: string): unknown {
  return JSON.parse(text);
}

/** One text per value: keys sorted by code unit, numbers as JavaScript writes them (RFC 8785). Takes what fromJson gives. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) {
    let text = "[";
    for (let i = 0; i < value.length; i++) text += (i === 0 ? "" : ",") + canonicalJson(value[i]);
    return `${text}]`;
  }
  let text = "{";
  for (const key of Object.keys(value).sort()) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    text += `${text.length === 1 ? "" : ","}${JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `${text}}`;
}

/**
 * Where two JSON values differ, keys that only one of them has included; at most `max` paths. Below 64 levels, or after
 * 100,000 values, what has not been compared is taken as equal.
 */
export function differingPaths(a: unknown, b: unknown, max = 20): string[] {
  const found: string[] = [];
  const path: Path = [];
  let left = jsonNodeCountMax;

  const compare = (x: unknown, y: unknown): void => {
    if (x === y || found.length >= max || --left < 0) return;
    if (!isContainer(x) || !isContainer(y) || Array.isArray(x) !== Array.isArray(y)) {
      found.push(renderPath(path));
      return;
    }
    if (path.length >= jsonDepthMax) return;
    const keys = Array.isArray(x)
      ? range(Math.max(x.length, (y as unknown[]).length))
      : new Set([...Object.keys(x), ...Object.keys(y)]);
    for (const key of keys) {
      if (found.length >= max || left < 0) return;
      path.push(key);
      compare(own(x, key), own(y, key));
      path.pop();
    }
  };

  if (max > 0) compare(a, b);
  return found;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

const own = (value: object, key: string | number): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string | number, unknown>)[key] : undefined;

function* range(end: number): Generator<number> {
  for (let i = 0; i < end; i++) yield i;
}

/** `data.items[3].total`; keys that are not names are quoted: `data["order id"]`. */
function renderPath(path: Path): string {
  let text = "";
  for (const key of path) {
    if (typeof key === "number") text += `[${key}]`;
    else if (/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key)) text += text === "" ? key : `.${key}`;
    else text += `[${JSON.stringify(key.length > pathLengthMax ? `${key.slice(0, pathLengthMax)}…` : key)}]`;
    if (text.length > pathLengthMax) return `${text.slice(0, pathLengthMax)}…`;
  }
  return text === "" ? "(the value itself)" : text;
}

/** The value at a dotted path, own properties only; null where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const part of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return null;
    at = (at as Record<string, unknown>)[part];
  }
  return at ?? null;
}
