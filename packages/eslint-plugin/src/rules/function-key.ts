import type { DurableFunction } from "../core/durable.ts";
import type { File } from "../core/file.ts";
import { eventsOf, fieldsOfKey, functionKeyOf } from "../core/keys.ts";
import { isWithin, type Node, propertyOf, textOf } from "../core/syntax.ts";
import { fieldsNamed, fieldsRead, isOwner, thingOf, wordsOfEvents } from "../core/things.ts";
import { defineRule, type Found, type Suggestion } from "../rule.ts";

export const functionKey = defineRule({
  name: "function-key",
  says: "A function that events start says what makes two of them the same, or why nothing does.",
  suggests: true,
  messages: {
    missing:
      '{{fn}} has no key: the same thing told twice, under another id or another name, runs it twice. Add idempotency: "event.data.…", or say why not: {{none}}.',
    forAll:
      '{{option}} of {{fn}} has no key, so it counts the events of all things together, and those of others are lost. Add key: "event.data.…" to it.',
    reason: "{{fn}} says that it has no key, and not why. Write the reason: {{none}}.",
    wide: "{{fn}} is about {{thing}}, and its key names only {{key}}: the second {{word}} of one {{owner}} within the window is lost. Add {{thing}} to it: \"event.data.{{key}} + '-' + event.data.{{thing}}\".",
    add: 'Add idempotency: "event.data.{{field}}"',
  },
  *find(file): Iterable<Found> {
    const known = new Set([...sentBySteps(file), ...receivedHere(file)]);
    for (const fn of file.durable.functions) {
      const found = judge(file, fn, known);
      if (found !== null) yield found;
    }
  },
});

/** Events sent by a step of this file have the id of that step: the sender's key speaks for them. */
const sentBySteps = (file: File): string[] =>
  file.durable.steps.flatMap(({ tool, call }) =>
    tool === "sendEvent"
      ? eventsOf(file.names, { ...call, arguments: call.arguments.slice(1) } as Node).flatMap(({ name }) => name ?? [])
      : [],
  );

/** Events received by a webhook() of this file are claimed by their provider's id: "stripe/" stands for all of them. */
const receivedHere = (file: File): string[] =>
  file.calls.flatMap((call) => {
    const { module, root, path } = file.names.sourceOf(call.callee);
    const options =
      module === "idem/webhooks" && (path.at(-1) ?? root) === "webhook"
        ? file.names.objectOf(call.arguments[0] as Node | undefined)
        : null;
    const source = options === null ? null : textOf(propertyOf(options, "source")?.value);
    return source === null ? [] : [`${source}/`];
  });

function judge(file: File, fn: DurableFunction, known: ReadonlySet<string>): Found | null {
  const { options, triggers } = fn;
  if (options === null || options.properties.some(({ type }) => type === "SpreadElement")) return null;
  const node = propertyOf(options, "id") ?? options;
  const named = fn.id === "this function" ? "This function" : `The function "${fn.id}"`;
  const none =
    fn.flavor === "idem" ? 'idempotency: { none: "each event is new work" }' : "// no key: each event is new work";
  const { property, expression, none: reason } = functionKeyOf(file.names, fn);
  if (property !== null) {
    if (reason !== null)
      return reason.trim() === "" ? { node: property, id: "reason", data: { fn: named, none } } : null;
    return tooWide(file, fn, expression, named);
  }
  for (const option of ["debounce", "rateLimit", "singleton"]) {
    const limit = propertyOf(options, option);
    if (limit === null) continue;
    const object = file.names.objectOf(limit.value);
    // To code that does not look at its event all of them are the same: one puller, one clean-up.
    if (object === null || propertyOf(object, "key") !== null || !readsEvent(file, fn)) return null;
    return { node: limit, id: "forAll", data: { fn: named, option } };
  }
  const isUnasked =
    triggers === null ||
    !triggers.some(({ kind }) => kind === "event") ||
    triggers.every(
      ({ kind, event }) =>
        kind !== "event" ||
        (event !== null && (event.startsWith("inngest/") || known.has(event) || known.has(`${event.split("/")[0]}/`))),
    ) ||
    propertyOf(options, "batchEvents") !== null;
  if (isUnasked || saysWhy(file, fn, node) || isSettledByRows(file, fn)) return null;
  return { node, id: "missing", data: { fn: named, none }, suggest: suggested(file, fn, node) };
}

/** All that it leaves are rows which say themselves what happens when they are there: a second run finds them. */
function isSettledByRows(file: File, { handlers }: DurableFunction): boolean {
  const effects = file.effects.filter(({ node }) => handlers.some((handler) => isWithin(node, handler)));
  return effects.length > 0 && effects.every(({ statement }) => statement?.act === "upsert");
}

const readsEvent = (file: File, { handlers }: DurableFunction): boolean =>
  handlers.length === 0 || handlers.some((handler) => /\bevents?\b/.test(file.text(handler)));

/** `// no key: why`, on the line of the function, of its options or of its id. */
function saysWhy(file: File, { call, options }: DurableFunction, id: Node): boolean {
  const places: Node[] = [id, call, ...(options === null ? [] : [options])];
  let at: Node | undefined = call.parent;
  while (at && at.loc.start.line === call.loc.start.line) {
    places.push(at);
    at = at.parent;
  }
  return places.some((each) => /\bno key:\s*\S/i.test(file.remarkBeside(each) ?? ""));
}

function suggested(file: File, fn: DurableFunction, id: Node): Suggestion | null {
  const fields = fieldsNamed(file, fn);
  const [field] = fields.length === 1 ? fields : [];
  if (field === undefined || id.type !== "Property") return null;
  return {
    id: "add",
    data: { field },
    edits: [{ range: [id.range[1], id.range[1]], text: `, idempotency: "event.data.${field}"` }],
  };
}

/** The key is an owner's id alone, and the code reads the id of the thing that the event's name speaks of. */
function tooWide(file: File, fn: DurableFunction, expression: Node | null, named: string): Found | null {
  const [key, ...more] = fieldsOfKey(expression) ?? [];
  const owner = key === undefined ? null : thingOf(key);
  if (key === undefined || owner === null || more.length > 0 || !isOwner(owner) || expression === null) return null;
  if (!/^\s*event\.[\w.]+\s*$/.test(textOf(expression) ?? "") || wordsOfEvents(fn).includes(owner)) return null;
  const thing = fieldsRead(file, fn).find((field) => field !== key && wordsOfEvents(fn).includes(thingOf(field) ?? ""));
  if (thing === undefined) return null;
  return { node: expression, id: "wide", data: { fn: named, key, thing, owner, word: thingOf(thing)! } };
}
