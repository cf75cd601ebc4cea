// Keys: of functions, of destinations, of events. Finds the place of each, and whether a call carries one.
import type { TSESTree } from "@typescript-eslint/types";
import type { Durable, DurableFunction } from "./durable.ts";
import type { Effect } from "./effects.ts";
import type { Names } from "./names.ts";
import {
  argumentsOf,
  bare,
  descend,
  isCall,
  isFunction,
  keyName,
  memberName,
  type Node,
  propertyOf,
  textOf,
} from "./syntax.ts";

export type KeyState =
  | { readonly state: "keyed"; readonly node: Node }
  | { readonly state: "unkeyed" }
  /** Handed over by code that is not here. */
  | { readonly state: "unknown" };

const keyNames =
  /^(idempotencykey|idempotencytoken|idempotentkey|idempotencyid|messagededuplicationid|clienttoken|clientrequesttoken|paypalrequestid|ckoidempotencykey|xqontoidempotencykey|xidempotencykey|xrequestid|dedupkey|dedupekey|deduplicationid|deduplicationkey)$/;
const isKeyName = (name: string): boolean => keyNames.test(name.replace(/[-_]/g, "").toLowerCase());
/** Arguments of a step's callback that carry its key. */
const stepKeys = new Set(["key", "headers", "fields"]);

export function keyOfCall(names: Names, durable: Durable, effect: Effect): KeyState {
  if (!isCall(effect.node)) return { state: "unkeyed" };
  if (effect.kind === "event") return keyOfEvents(eventsOf(names, effect.node));
  const way = effect.provider?.key ?? null;
  const search = new KeySearch(names, durable, way?.name ?? null);
  const given = argumentsOf(effect.node);
  for (const each of given) search.look(each, 0);
  if (search.found !== null) return { state: "keyed", node: search.found };
  if (effect.kind === "file" || effect.kind === "database") return { state: "unkeyed" };
  if (effect.request !== null) return search.isOpen ? { state: "unknown" } : { state: "unkeyed" };
  // The SDK's options are its second argument: what is in the first has no part in it.
  const options = way?.in === "options" ? given.slice(1) : given;
  const isHidden = options.some((each) => names.objectOf(each) === null && isReference(names.valueOf(each)));
  const isOpen = way?.in === "options" ? isHidden || (given.length > 1 && search.isOpen) : isHidden || search.isOpen;
  return isOpen ? { state: "unknown" } : { state: "unkeyed" };
}

/** An event is known again by its id. */
function keyOfEvents(sent: readonly EventSent[]): KeyState {
  const [first] = sent;
  if (first === undefined || sent.some(({ id, isOpen }) => id === null && isOpen)) return { state: "unknown" };
  return first.id !== null && sent.every(({ id }) => id !== null)
    ? { state: "keyed", node: first.id }
    : { state: "unkeyed" };
}

const isReference = (node: Node): boolean =>
  node.type === "Identifier" || node.type === "MemberExpression" || node.type === "CallExpression";

class KeySearch {
  found: Node | null = null;
  /** Something is spread or handed over that may have a key. */
  isOpen = false;
  readonly #names: Names;
  readonly #durable: Durable;
  readonly #name: string | null;
  readonly #seen = new Set<Node>();

  constructor(names: Names, durable: Durable, name: string | null) {
    this.#names = names;
    this.#durable = durable;
    this.#name = name;
  }

  look(node: Node, depth: number): void {
    const plain = bare(node);
    if (this.found !== null || depth > 6 || this.#seen.has(plain)) return;
    this.#seen.add(plain);
    if (plain.type === "Identifier") {
      if (isKeyName(plain.name) || isStepKey(this.#names, this.#durable, plain)) {
        this.found = plain;
        return;
      }
      const value = this.#names.valueOf(plain);
      if (value !== plain && (value.type === "ObjectExpression" || isCall(value))) this.look(value, depth + 1);
      return;
    }
    if (isCall(plain)) {
      // destination("stripe").headers(context), orders.fields(key)
      const name = memberName(bare(plain.callee));
      if (name !== null && stepKeys.has(name)) this.found = plain;
      for (const each of argumentsOf(plain)) this.look(each, depth + 1);
      return;
    }
    // context.key, context.headers
    if (
      plain.type === "MemberExpression" &&
      plain.object.type === "Identifier" &&
      stepKeys.has(memberName(plain) ?? "")
    ) {
      if (isBodyParameter(this.#names, this.#durable, plain.object)) this.found = plain;
      return;
    }
    if (plain.type !== "ObjectExpression") return;
    for (const each of plain.properties) this.#lookAtProperty(each, depth);
  }

  #lookAtProperty(each: TSESTree.ObjectLiteralElement, depth: number): void {
    if (each.type === "SpreadElement") {
      const before = this.found;
      this.look(each.argument, depth + 1);
      if (this.found === before && this.#names.objectOf(each.argument) === null) this.isOpen = true;
      return;
    }
    const name = keyName(each);
    if (name !== null && (isKeyName(name) || name.toLowerCase() === this.#name?.toLowerCase())) {
      this.found ??= bare(each.value);
      return;
    }
    if (name === "headers" || name === "options" || name === "requestOptions") {
      const value = this.#names.valueOf(each.value);
      if (value.type === "Identifier" && !isStepKey(this.#names, this.#durable, value)) this.isOpen = true;
      if (isCall(value) && memberName(bare(value.callee)) !== "headers") this.isOpen = true;
    }
    this.look(each.value, depth + 1);
  }
}

/** The `key` of a step's callback, its `headers` and `fields`, or the whole of what it receives. */
export function isStepKey(names: Names, durable: Durable, id: TSESTree.Identifier): boolean {
  if (!isBodyParameter(names, durable, id)) return false;
  if (stepKeys.has(names.sourceOf(id).root)) return true;
  // The whole context, handed on to something that takes its key from it.
  const def = names.variable(id)?.defs[0];
  return isCall(id.parent) && (def?.node as { params?: unknown[] } | undefined)?.params?.includes(def?.name) === true;
}

function isBodyParameter(names: Names, durable: Durable, id: TSESTree.Identifier): boolean {
  const def = names.variable(id)?.defs[0];
  const fn = def?.node as Node | undefined;
  return def?.type === "Parameter" && isFunction(fn) && durable.steps.some(({ body }) => body === fn);
}

export interface EventSent {
  readonly call: Node;
  /** The event as it is written. */
  readonly event: TSESTree.ObjectExpression;
  readonly id: Node | null;
  readonly name: string | null;
  readonly isOpen: boolean;
}

/** The events of a `send` that are written here, also those made one by one from a list. */
export function eventsOf(names: Names, call: Node): EventSent[] {
  if (!isCall(call)) return [];
  const first = argumentsOf(call)[0];
  if (first === undefined) return [];
  const value = names.valueOf(first);
  const written: TSESTree.ObjectExpression[] = [];
  if (value.type === "ObjectExpression") written.push(value);
  else if (value.type === "ArrayExpression") {
    for (const each of value.elements) {
      const object = each === null || each.type === "SpreadElement" ? null : names.objectOf(each);
      if (object !== null) written.push(object);
    }
  } else if (isCall(value) && memberName(bare(value.callee)) === "map") {
    for (const each of descend(value)) {
      if (each.type === "ObjectExpression" && propertyOf(each, "name") !== null) {
        written.push(each);
        break;
      }
    }
  }
  return written
    .filter((event) => propertyOf(event, "name") !== null || propertyOf(event, "data") !== null)
    .map((event) => ({
      call,
      event,
      id: propertyOf(event, "id")?.value ?? null,
      name: textOf(propertyOf(event, "name")?.value),
      isOpen: event.properties.some(({ type }) => type === "SpreadElement"),
    }));
}

export interface FunctionKey {
  /** The option as it is written; null where there is none. */
  readonly property: TSESTree.Property | null;
  /** The expression, where it is written here. */
  readonly expression: Node | null;
  /** The reason of `{ none: "…" }`; null where that is not said. */
  readonly none: string | null;
}

export function functionKeyOf(names: Names, fn: DurableFunction): FunctionKey {
  const property = fn.options === null ? null : propertyOf(fn.options, "idempotency");
  if (property === null) return { property: null, expression: null, none: null };
  const object = names.objectOf(property.value);
  if (object === null) return { property, expression: names.valueOf(property.value), none: null };
  const none = propertyOf(object, "none");
  const key = propertyOf(object, "key");
  return {
    property,
    expression: key === null ? null : names.valueOf(key.value),
    none: none === null ? null : (textOf(names.valueOf(none.value)) ?? "…"),
  };
}

/** The fields of the event that a CEL expression names: "placementId" of `event.data.placementId`. */
export function fieldsOfKey(expression: Node | null): string[] | null {
  const text = textOf(expression);
  if (text === null) return null;
  return [...text.matchAll(/\bevent\.([\w.]+)/g)].map(([, path]) => path!.split(".").at(-1)!);
}
