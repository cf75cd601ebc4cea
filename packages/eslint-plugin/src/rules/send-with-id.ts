import type { File } from "../core/file.ts";
import { type EventSent, eventsOf, functionKeyOf } from "../core/keys.ts";
import { argumentsOf, bare, type Call, memberName, type Node, propertyOf, writtenText } from "../core/syntax.ts";
import { isOneOfSeveral, isOwner, thingOf, wordsOf } from "../core/things.ts";
import { volatileIn } from "../core/trace.ts";
import { defineRule, type Found, type Suggestion } from "../rule.ts";

export const sendWithId = defineRule({
  name: "send-with-id",
  says: "An event has an id that names what happened: sent twice, it is one event.",
  suggests: true,
  everywhere: /\bsend\b/,
  messages: {
    missing:
      "{{event}} is sent without an id: a second click, a retry or a redelivered webhook sends another one. Add an id made of what happened, such as {{prefix}}-… with the thing's own id.",
    bare: "The id of {{event}} is {{id}} and nothing else. Ids are one space for all events: another event about the same thing would take its place. Begin it with what happened: {{prefix}}-….",
    wide: "The id of {{event}} speaks of {{word}} and names only the {{owner}}: the second {{word}} of one {{owner}} is lost. Add the {{word}}'s own id.",
    add: "Add id: {{id}}",
    begin: "Begin it with what happened: {{id}}",
  },
  *find(file): Iterable<Found> {
    const keyed = eventsOfKeyed(file);
    for (const { node, kind } of file.effects) {
      if (kind !== "event") continue;
      const places = file.durable.placesOf(node);
      // Between steps it is not to be sent at all: effect-in-step says so.
      if (places.length > 0 && places.every((place) => place.kind === "between")) continue;
      if (isInTransaction(file, node as Call)) continue;
      for (const event of eventsOf(file.names, node)) {
        const found = event.id === null && event.name !== null && keyed.has(event.name) ? null : judge(file, event);
        if (found !== null) yield found;
      }
    }
  },
});

/** Events of which every function of this file that they start has a key of its own: one of the two layers is enough. */
function eventsOfKeyed(file: File): ReadonlySet<string> {
  const named = (isKeyed: boolean) =>
    file.durable.functions
      .filter((fn) => (functionKeyOf(file.names, fn).expression !== null) === isKeyed)
      .flatMap(({ triggers }) => (triggers ?? []).flatMap(({ event }) => event ?? []));
  const unkeyed = new Set(named(false));
  return new Set(named(true).filter((event) => !unkeyed.has(event)));
}

/** `{ tx }`: with the write it belongs to, or not at all. */
function isInTransaction(file: File, call: Call): boolean {
  const options = file.names.objectOf(argumentsOf(call)[1]);
  return options !== null && propertyOf(options, "tx") !== null;
}

function judge(file: File, sent: EventSent): Found | null {
  if (sent.name === "") return null;
  const event = sent.name === null ? "The event" : `"${sent.name}"`;
  const prefix = (sent.name ?? "what-happened").replace(/[^A-Za-z0-9]+/g, "-");
  if (sent.id === null) {
    if (sent.isOpen) return null;
    return { node: sent.event, id: "missing", data: { event, prefix }, suggest: suggested(file, sent, prefix) };
  }
  if (volatileIn(file, sent.id) !== null) return null;
  const plain = bare(sent.id);
  const name = plain.type === "Identifier" ? plain.name : memberName(plain);
  if (name !== null && /[a-z]Id$/.test(name) && !/event|delivery|message|webhook|request|dedup|idempot/i.test(name)) {
    const id = file.text(plain);
    const text = `\`${prefix}-\${${id}}\``;
    return {
      node: plain,
      id: "bare",
      data: { event, id, prefix },
      suggest: { id: "begin", data: { id: text }, edits: [{ range: plain.range, text }] },
    };
  }
  return tooWide(sent, plain, event);
}

function suggested(file: File, { event }: EventSent, prefix: string): Suggestion | null {
  const data = file.names.objectOf(propertyOf(event, "data")?.value);
  const ids = (data?.properties ?? []).flatMap((each) =>
    each.type === "Property" && each.key.type === "Identifier" && thingOf(each.key.name) !== null ? [each] : [],
  );
  const [only] = ids.length === 1 ? ids : [];
  const [first] = event.properties;
  if (only === undefined || first === undefined || only.value.type === "Literal") return null;
  const id = `\`${prefix}-\${${file.text(only.value)}}\``;
  return { id: "add", data: { id }, edits: [{ range: [first.range[0], first.range[0]], text: `id: ${id}, ` }] };
}

/** `payment-${userId}`: the words speak of a thing of which the owner has several. */
function tooWide({ event: object }: EventSent, id: Node, event: string): Found | null {
  if (id.type !== "TemplateLiteral" || id.expressions.length !== 1) return null;
  const part = bare(id.expressions[0]!);
  const name = part.type === "Identifier" ? part.name : memberName(part);
  const owner = name === null ? null : thingOf(name);
  if (owner === null || !isOwner(owner)) return null;
  const words = wordsOf(writtenText(id) ?? "");
  const data = propertyOf(object, "data")?.value;
  const fields =
    data?.type === "ObjectExpression"
      ? data.properties.flatMap((each) =>
          each.type === "Property" && each.key.type === "Identifier" ? [thingOf(each.key.name)] : [],
        )
      : [];
  const word = words.find((each) => isOneOfSeveral(each) || (each !== owner && fields.includes(each)));
  return word === undefined || words.includes(owner) ? null : { node: id, id: "wide", data: { event, owner, word } };
}
