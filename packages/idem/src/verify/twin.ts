// The twin of an event: the same for another entity. Which field tells entities apart is read from the event's name and its data. Pure.
import type { Json } from "./thing.ts";

type Data = { readonly [name: string]: Json };

const isRecord = (value: Json): value is Data => typeof value === "object" && value !== null && !Array.isArray(value);

const idLike = /(^|_|\.)(id|uuid|key|number|ref|reference|sku|email)$|(Id|Uuid|Key|Number|Ref|Reference|Email)$/;

/** Fields of the data that hold ids, by their path. */
export function idFields(data: Json, at = "", depth = 0): string[] {
  if (!isRecord(data) || depth > 2) return [];
  return Object.entries(data).flatMap(([name, value]) => {
    const path = at === "" ? name : `${at}.${name}`;
    if (typeof value === "string" || typeof value === "number") return idLike.test(name) ? [path] : [];
    return idFields(value, path, depth + 1);
  });
}

/** "crm/placement.made" speaks of crm, placement and made. */
const wordsOf = (name: string): string[] =>
  name.split(/[^A-Za-z0-9]+/).map((word) => word.toLowerCase().replace(/s$/, ""));

const stemOf = (field: string): string =>
  (field.split(".").at(-1) ?? "")
    .replace(/(_?(id|uuid|key|number|ref|reference))$/i, "")
    .toLowerCase()
    .replace(/s$/, "");

/** The field that says which entity the event is about; null where nothing looks like one. */
export function entityField(name: string, data: Json, declared: string | null): string | null {
  if (declared !== null) return declared;
  const fields = idFields(data);
  const words = wordsOf(name);
  const spoken = fields.filter((field) => words.includes(stemOf(field)));
  // Beneath the noun itself: `placement.id`.
  const inside = fields.filter((field) => /(^|\.)id$/i.test(field) && words.includes(parentOf(field)));
  return spoken[0] ?? inside[0] ?? fields.find((field) => field === "id") ?? fields[0] ?? null;
}

const parentOf = (field: string): string => (field.split(".").at(-2) ?? "").toLowerCase();

export function valueAt(data: Json, path: string): Json {
  return path.split(".").reduce<Json>((value, name) => (isRecord(value) ? (value[name] ?? null) : null), data);
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const another = (value: Json): Json => {
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value !== "string") return value;
  // It stays a UUID, and passes its schema.
  if (uuid.test(value)) return `${value.slice(0, -1)}${value.endsWith("0") ? "1" : "0"}`;
  return value.includes("@") ? `twin-${value}` : `${value}-twin`;
};

/** The data with another value there; the same value elsewhere in it follows. */
export function withAnother(data: Json, path: string): Json {
  const old = valueAt(data, path);
  const replace = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(replace);
    if (isRecord(value)) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replace(each)]));
    return value === old ? another(old) : value;
  };
  return replace(data);
}

/** Fields at the top that are not the entity's and have a value that can be another. */
export function otherFields(data: Json, entity: string | null): string[] {
  if (!isRecord(data)) return [];
  return Object.entries(data)
    .filter(([name, value]) => name !== entity && ["string", "number", "boolean"].includes(typeof value))
    .map(([name]) => name);
}
