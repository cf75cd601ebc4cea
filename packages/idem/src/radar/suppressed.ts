// Keys that were too broad: a second event was answered with the first one's run although it named another thing or another
// amount. Two payments of one customer on one day look like this.
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { fromJson } from "../model/json.ts";
import { type Field, fieldsOf, isAmount, isDelivery, isIdentity } from "./fields.ts";
import { type Finding, type Rows, times } from "./finding.ts";

export interface Suppressed {
  readonly decision: Decision;
  readonly event: Event;
  readonly first: Event | null;
}

interface Broad {
  count: number;
  readonly paths: Map<string, number>;
  example: { eventId: string; firstEventId: string; key: string | null };
}

export async function findBroadKeys(
  suppressed: Rows<Suppressed>,
  functionOf: (fn: string) => { readonly name: string; readonly keyExpression: string | null },
  decisionsMax: number,
): Promise<Finding[]> {
  const byKey = new Map<string, Broad>();
  const byId = new Map<string, Broad>();
  const countedEvents = new Set<string>();
  let count = 0;
  for await (const { decision, event, first } of suppressed) {
    if (count++ === decisionsMax) break;
    if (first === null) continue;
    const isById = decision.kind === "duplicate-event";
    // One duplicate event has a decision for each function; it is one mistake.
    if (isById && countedEvents.has(event.id)) continue;
    const paths = tellingDifferences(first, event);
    if (paths.length === 0) continue;
    if (isById) countedEvents.add(event.id);
    const key = isById ? event.callerId : decision.key;
    const example = { eventId: event.id, firstEventId: first.id, key };
    const group = isById ? byId : byKey;
    const name = isById ? event.name : decision.fn;
    const broad = group.get(name) ?? { count: 0, paths: new Map(), example };
    group.set(name, broad);
    broad.count += 1;
    for (const path of paths) broad.paths.set(path, (broad.paths.get(path) ?? 0) + 1);
  }
  return [
    ...[...byKey].map(([fn, broad]): Finding => {
      const { name, keyExpression } = functionOf(fn);
      return {
        kind: "key-too-broad",
        level: "problem",
        title: `The key of "${name}" answered events that differ in what they are about`,
        details: describe(broad),
        next: `Make the key more specific: \`${keyExpression ?? "its expression"}\` says nothing about ${listOf(broad)}`,
        facts: factsOf(broad, { function: name, expression: keyExpression }),
      };
    }),
    ...[...byId].map(
      ([name, broad]): Finding => ({
        kind: "id-too-broad",
        level: "problem",
        title: `Ids of "${name}" suppressed events that differ in what they are about`,
        details: describe(broad),
        next: `Put what tells them apart into the id: ${listOf(broad)}`,
        facts: factsOf(broad, { event: name }),
      }),
    ),
  ];
}

/** Identities and amounts that are not the same in both. */
export function tellingDifferences(first: Event, second: Event): string[] {
  if (first.data === second.data) return [];
  const telling = (event: Event) =>
    new Map(
      fieldsOf(fromJson(event.data))
        .filter((field: Field) => (isIdentity(field) && !isDelivery(field)) || isAmount(field))
        .map(({ path, value }) => [path, value]),
    );
  const a = telling(first);
  const b = telling(second);
  return [...a.keys()].filter((path) => b.has(path) && a.get(path) !== b.get(path));
}

const byCount = (broad: Broad) => [...broad.paths].sort((a, b) => b[1] - a[1]).slice(0, 5);

const listOf = (broad: Broad): string =>
  byCount(broad)
    .map(([path]) => path)
    .join(", ");

const describe = (broad: Broad): string[] => [
  `${times(broad.count, "suppressed event")} differed at ${byCount(broad)
    .map(([path, count]) => `${path} (${count})`)
    .join(", ")}`,
  `for example event ${broad.example.eventId}, answered for by event ${broad.example.firstEventId} under ${broad.example.key ?? "its id"}`,
];

const factsOf = (broad: Broad, more: Record<string, unknown>) => ({
  ...more,
  count: broad.count,
  paths: Object.fromEntries(broad.paths),
  example: broad.example,
});
