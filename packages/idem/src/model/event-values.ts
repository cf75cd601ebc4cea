// Which values of an event's data it is found by: those of the fields that people chose for events of its name.
import { fromJson, isJsonObject } from "./json.ts";

export interface EventValue {
  /** As an expression writes it: `event.data.orderId`. */
  readonly path: string;
  /** In small letters, cut to what can be searched by. */
  readonly word: string;
  /** As JSON, cut as well. */
  readonly value: string;
}

/** More than people type; an index of longer ones is a copy of the data. */
export const wordCharsMax = 100;
export const fieldsMax = 10;

/** By the event's name. */
export type SearchFields = ReadonlyMap<string, readonly string[]>;

const pathPattern = /^event\.data(\.[A-Za-z_][A-Za-z0-9_]{0,99}){1,4}$/;

/** "orderId", "data.orderId" and "event.data.orderId" are one; null for what names no field. */
export function fieldPath(text: string): string | null {
  const names = text.trim().replace(/^(event\.)?data\./, "");
  const path = `event.data.${names}`;
  return pathPattern.test(path) ? path : null;
}

/** Texts, numbers and truth values; what is larger, a list or not there is not kept. */
export function valuesOf(data: string, paths: readonly string[]): readonly EventValue[] {
  const whole = fromJson(data);
  return paths.flatMap((path) => {
    const value = path
      .split(".")
      .slice(2)
      .reduce<unknown>((of, name) => (isJsonObject(of) && Object.hasOwn(of, name) ? of[name] : undefined), whole);
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return [];
    const text = String(value).slice(0, wordCharsMax);
    if (text === "") return [];
    return [{ path, word: wordOf(text), value: JSON.stringify(typeof value === "string" ? text : value) }];
  });
}

/** As it is compared: small letters, and nothing a database cannot keep. */
export const wordOf = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replaceAll("\0", "")
    .replaceAll(/\p{Cs}/gu, "\u{FFFD}")
    .slice(0, wordCharsMax);

/** With what they are found by. */
export const withValues = <E extends { readonly name: string; readonly data: string }>(
  events: readonly E[],
  fields: SearchFields,
): readonly (E & { readonly values?: readonly EventValue[] })[] =>
  fields.size === 0
    ? events
    : events.map((event) => {
        const paths = fields.get(event.name);
        return paths === undefined ? event : { ...event, values: valuesOf(event.data, paths) };
      });
