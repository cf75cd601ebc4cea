// The opposite mistakes, on the sender's side: ids that can never meet again, sends with and without one, and one id that
// two kinds of events share.
import { createHash } from "node:crypto";
import type { Event } from "../model/event.ts";
import { canonicalJson, fromJson } from "../model/json.ts";
import { fieldsOf, isDelivery, isTime } from "./fields.ts";
import { type Finding, type Rows, span, times } from "./finding.ts";

export interface EventIdOptions {
  readonly nearMs: number;
  readonly eventsMax: number;
}

// A sender's and the store's clock may be this far apart.
const clockApartMs = 60 * 60 * 1_000;
const volatileShare = 0.9;
const namesMax = 10_000;
const examplesMax = 3;

interface NameFacts {
  withId: number;
  withoutId: number;
  repeated: number;
  withTimestamp: number;
  withRandom: number;
  /** The same data under another id, close together: what the ids were there to prevent. */
  twins: number;
  readonly timestampExamples: string[];
  readonly randomExamples: string[];
}

export async function findEventIdMistakes(events: Rows<Event>, options: EventIdOptions): Promise<Finding[]> {
  const byName = new Map<string, NameFacts>();
  const nameOfId = new Map<string, string>();
  const shared = new Map<string, { id: string; count: number }>();
  const contents = new Map<string, { id: string | null; at: number }>();
  let count = 0;
  for await (const event of events) {
    // Events that steps send take an id from their step; nobody chose it.
    if (event.sourceRunId !== null) continue;
    if (count++ === options.eventsMax) break;
    const facts = factsOf(byName, event.name);
    if (facts === null) continue;
    if (event.callerId === null) {
      facts.withoutId += 1;
      continue;
    }
    facts.withId += 1;
    const other = nameOfId.get(event.callerId);
    if (other === undefined) nameOfId.set(event.callerId, event.name);
    else if (other === event.name) facts.repeated += 1;
    else {
      const pair = JSON.stringify([other, event.name].sort());
      const known = shared.get(pair);
      shared.set(pair, { id: known?.id ?? event.callerId, count: (known?.count ?? 0) + 1 });
    }
    const data = fromJson(event.data);
    const rest = withoutValues(event.callerId, data);
    if (holdsTimestamp(rest, event.receivedAt)) {
      facts.withTimestamp += 1;
      if (facts.timestampExamples.length < examplesMax) facts.timestampExamples.push(event.callerId);
    } else if (holdsRandom(rest)) {
      facts.withRandom += 1;
      if (facts.randomExamples.length < examplesMax) facts.randomExamples.push(event.callerId);
    }
    const content = contentOf(event.name, data);
    const before = contents.get(content);
    if (
      before !== undefined &&
      before.id !== event.callerId &&
      Math.abs(before.at - event.receivedAt) <= options.nearMs
    ) {
      facts.twins += 1;
    }
    contents.set(content, { id: event.callerId, at: event.receivedAt });
  }
  return [
    ...[...byName].flatMap(([name, facts]) => mistakesOf(name, facts, options)),
    ...[...shared].map(([pair, { id, count: uses }]) => sharedId(JSON.parse(pair) as [string, string], id, uses)),
  ];
}

function factsOf(byName: Map<string, NameFacts>, name: string): NameFacts | null {
  let facts = byName.get(name);
  if (facts === undefined) {
    if (byName.size === namesMax) return null;
    facts = {
      withId: 0,
      withoutId: 0,
      repeated: 0,
      withTimestamp: 0,
      withRandom: 0,
      twins: 0,
      timestampExamples: [],
      randomExamples: [],
    };
    byName.set(name, facts);
  }
  return facts;
}

/** The part of an id that does not come from the event's own data: its sender made it up. */
function withoutValues(id: string, data: unknown): string {
  let rest = id;
  const values = fieldsOf(data)
    .filter((field) => !isTime(field))
    .map(({ value }) => String(value))
    .filter((value) => value.length >= 3)
    .sort((a, b) => b.length - a.length);
  for (const value of values) rest = rest.replaceAll(value, "·");
  return rest;
}

/** Whether the id its sender gave holds the time of sending, so that it can never be given again. */
export const hasTimestampId = ({ callerId, data, receivedAt }: Event): boolean =>
  callerId !== null && holdsTimestamp(withoutValues(callerId, fromJson(data)), receivedAt);

function holdsTimestamp(text: string, receivedAt: number): boolean {
  for (const [digits] of text.matchAll(/\d{10,17}/g)) {
    for (const ms of [Number(digits), Number(digits) * 1_000, Number(digits) / 1_000]) {
      if (Math.abs(ms - receivedAt) <= clockApartMs) return true;
    }
  }
  for (const [iso] of text.matchAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?/g)) {
    if (Math.abs(Date.parse(iso) - receivedAt) <= 24 * clockApartMs) return true;
  }
  return false;
}

const randomParts = [
  /[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/i,
  /(?<![0-9A-Z])[0-7][0-9A-HJKMNP-TV-Z]{25}(?![0-9A-Z])/,
  /(?<![0-9a-f])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16,}(?![0-9a-f])/i,
  // Math.random().toString(36) and nanoid: long, mixed, without a word in it.
  /(?<![A-Za-z0-9])(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[a-z])(?=[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*\d)[A-Za-z0-9]{11,}(?![A-Za-z0-9])/,
  /0\.\d{10,}/,
];

const holdsRandom = (text: string): boolean => randomParts.some((pattern) => pattern.test(text));

/** The event without what changes from one delivery to the next. */
export function contentOf(name: string, data: unknown): string {
  const lasting = fieldsOf(data).filter((field) => !isTime(field) && !isDelivery(field));
  const text = canonicalJson([name, ...lasting.map(({ path, value }) => [path, value])]);
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

function mistakesOf(name: string, facts: NameFacts, { nearMs }: EventIdOptions): Finding[] {
  const found: Finding[] = [];
  const { withId, withoutId, repeated } = facts;
  const counts = { event: name, withId, withoutId, repeated, twins: facts.twins };
  const twins =
    facts.twins === 0
      ? []
      : [`${times(facts.twins, "event")} came with the same data under another id within ${span(nearMs)}`];
  if (withId >= 2 && repeated === 0 && facts.withTimestamp >= withId * volatileShare) {
    found.push({
      kind: "id-with-timestamp",
      level: "problem",
      title: `The ids of "${name}" never repeat: they hold the time of sending`,
      details: [
        `${withId} sends, none of them recognised again; for example ${facts.timestampExamples.join(", ")}`,
        ...twins,
      ],
      next: "Make the id from what happened, such as checkout-completed-<cartId>: the same on every send of the same thing",
      facts: { ...counts, examples: facts.timestampExamples },
    });
  } else if (withId >= 2 && repeated === 0 && facts.withTimestamp + facts.withRandom >= withId * volatileShare) {
    const isProven = facts.twins > 0;
    found.push({
      kind: "id-with-random-part",
      // A provider's own event id looks random as well and is a good id; only what came twice proves the mistake.
      level: isProven ? "problem" : "note",
      title: `The ids of "${name}" never repeat: they hold a random part that is not in the data`,
      details: [
        `${withId} sends, none of them recognised again; for example ${facts.randomExamples.join(", ")}`,
        ...twins,
      ],
      next: isProven
        ? "Make the id from what happened, such as checkout-completed-<cartId>, never from a UUID made while sending"
        : "Right when the id comes from the provider with each delivery; wrong when the sender makes it up while sending",
      facts: { ...counts, examples: facts.randomExamples },
    });
  }
  if (withId > 0 && withoutId > 0) {
    found.push({
      kind: "sent-with-and-without-id",
      level: "problem",
      title: `"${name}" is sent both with and without an id`,
      details: [`${withId} with, ${withoutId} without: a send without an id is never recognised as a repeat`],
      next: "Give every send of this event the same kind of id",
      facts: counts,
    });
  }
  return found;
}

const sharedId = (names: [string, string], id: string, uses: number): Finding => ({
  kind: "id-under-two-names",
  level: "problem",
  title: `One id is used under two event names: "${names[0]}" and "${names[1]}"`,
  details: [
    `${times(uses, "event")}, for example id ${JSON.stringify(id)}; ids are shared by all names, so the second event is taken for a repeat of the first`,
  ],
  next: "Begin the id with what happened: checkout-completed-<cartId> and item-deleted-<cartId>",
  facts: { names, id, count: uses },
});
