// Every expression of a file that serves as a key, with what it is the key of.
import type { File } from "./file.ts";
import { eventsOf, functionKeyOf } from "./keys.ts";
import { argumentsOf, bare, descend, keyName, type Node, propertyOf, writtenText } from "./syntax.ts";

export interface KeyPlace {
  readonly node: Node;
  /** For a message: `the key of stripe.invoices.create`. */
  readonly what: string;
  readonly role: "destination" | "event" | "function" | "address" | "entity";
}

export function* keyPlaces(file: File): Iterable<KeyPlace> {
  for (const fn of file.durable.functions) {
    const { expression } = functionKeyOf(file.names, fn);
    if (expression !== null) yield { node: expression, what: `the key of ${fn.id}`, role: "function" };
  }
  for (const effect of file.effects) {
    if (effect.kind === "event") {
      yield* ofEvents(file, effect.node, effect.what);
      continue;
    }
    if (file.durable.placesOf(effect.node).length === 0) continue;
    const key = file.keyOf(effect);
    if (key.state === "keyed") yield { node: key.node, what: `the key of ${effect.what}`, role: "destination" };
    else if (!effect.makes && effect.address !== null && !isTemporary(file, effect.address))
      yield { node: effect.address, what: `the name under which ${effect.what} writes`, role: "address" };
  }
  for (const { tool, call } of file.durable.steps) {
    if (tool === "sendEvent")
      yield* ofEvents(file, { ...call, arguments: call.arguments.slice(1) } as Node, "step.sendEvent");
    const options = tool === "effect" ? file.names.objectOf(call.arguments[1] as Node | undefined) : null;
    const entity = options === null ? null : propertyOf(options, "entity");
    if (entity !== null) yield { node: entity.value, what: "the entity of step.effect", role: "entity" };
    if (tool === "fetch") yield* ofFetch(file, call);
  }
}

function* ofEvents(file: File, call: Node, what: string): Iterable<KeyPlace> {
  for (const { id } of eventsOf(file.names, call))
    if (id !== null) yield { node: id, what: `the id of the event that ${what} sends`, role: "event" };
}

function* ofFetch(file: File, call: Node & { readonly arguments?: unknown }): Iterable<KeyPlace> {
  if (call.type !== "CallExpression") return;
  for (const given of argumentsOf(call)) {
    const object = file.names.objectOf(given);
    for (const each of object === null ? [] : descend(object)) {
      if (each.type === "Property" && /^idempotency-?key$/i.test(keyName(each) ?? ""))
        yield { node: bare(each.value), what: "the key of step.fetch", role: "destination" };
    }
  }
}

/** A file that nobody looks for again may have any name. */
function isTemporary(file: File, address: Node): boolean {
  const text = `${writtenText(file.names.valueOf(address)) ?? ""} ${file.text(file.names.valueOf(address))}`;
  return /\b(tmp|temp|tmpdir|mkdtemp)\b/i.test(text.replace(/\.tmp\b/g, ""));
}
