// Words for things: which thing a field, an event's name or an id speaks of.
import type { DurableFunction } from "./durable.ts";
import type { File } from "./file.ts";

/** Owners have many of the others: a key that names only them swallows the second one. */
const owners = new Set([
  "user",
  "customer",
  "client",
  "account",
  "tenant",
  "org",
  "organization",
  "organisation",
  "team",
  "company",
  "workspace",
  "member",
  "contact",
]);
/** Things of which one owner has several. */
const several = new Set([
  "payment",
  "charge",
  "order",
  "invoice",
  "message",
  "refund",
  "booking",
  "transfer",
  "transaction",
  "placement",
  "shipment",
  "ticket",
]);

export const isOwner = (word: string): boolean => owners.has(word);
export const isOneOfSeveral = (word: string): boolean => several.has(word);

/** "placement" of placementId, placement_id; null for what is no id. */
export function thingOf(field: string): string | null {
  const [, word] = /^(\w+?)_?(?:Id|ID|id)$/.exec(field) ?? [];
  return word === undefined || word === "" ? null : wordsOf(word).at(-1)!;
}

export function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z]+/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}

/** The fields of `event.data` that a function's code reads. */
export function fieldsRead(file: File, fn: DurableFunction): string[] {
  const text = fn.handlers.map((handler) => file.text(handler)).join("\n");
  const members = [...text.matchAll(/\bevent\.data\??\.(\w+)/g)].map(([, name]) => name!);
  const taken = [...text.matchAll(/\{([^{}]*)\}\s*=\s*event\.data\b/g)].flatMap(([, names]) =>
    names!.split(",").map((each) => each.split(/[:=]/)[0]!.trim()),
  );
  return [...new Set([...members, ...taken])];
}

/** Those whose thing the event's name speaks of: placementId for crm/placement.made. */
export function fieldsNamed(file: File, fn: DurableFunction): string[] {
  const words = new Set(wordsOfEvents(fn));
  return fieldsRead(file, fn).filter((field) => words.has(thingOf(field) ?? ""));
}

export const wordsOfEvents = (fn: DurableFunction): string[] =>
  (fn.triggers ?? []).flatMap(({ event }) => wordsOf(event ?? ""));
