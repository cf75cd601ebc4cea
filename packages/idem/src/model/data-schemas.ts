// JSON Schemas of the data of an app's events, registered with the functions those events start, for forms that people fill in.
// Kept as text: nothing on the way of an event reads them, and parsing a configuration does not pay for them.
import { isWildcard, type Trigger } from "./function-config.ts";

/** A form of so much schema is filled in by nobody; 32 KiB are some 300 fields. */
export const schemaBytesMax = 32 * 1024;
// Of one function. A wildcard can reach every event there is, and the store hands configurations out whole.
const schemasBytesMax = 128 * 1024;

const reaches = (trigger: Trigger, name: string): boolean =>
  "event" in trigger &&
  (trigger.event === name || (isWildcard(trigger.event) && name.startsWith(trigger.event.slice(0, -1))));

/** Of these events, those that start a function with these triggers. */
export const reachedNames = (triggers: readonly Trigger[], names: readonly string[]): readonly string[] =>
  names.filter((name) => triggers.some((trigger) => reaches(trigger, name)));

/**
 * A part of a configuration: the schemas of the events that start the function, by name, as far as they fit. Sorted, so that the same
 * schemas in another order are no other registration. Absent where there is none, so that the text of such a function stays what it was.
 */
export function keepDataSchemas(
  triggers: readonly Trigger[],
  names: readonly string[],
  /** JSON text; null where there is none. */
  schemaOf: (name: string) => string | null,
): { readonly dataSchemas?: Readonly<Record<string, string>> } {
  const kept: [string, string][] = [];
  let bytes = 0;
  for (const name of [...reachedNames(triggers, names)].sort()) {
    const text = schemaOf(name);
    if (text === null) continue;
    const size = Buffer.byteLength(text);
    if (size > schemaBytesMax || bytes + size > schemasBytesMax) continue;
    bytes += size;
    kept.push([name, text]);
  }
  return kept.length === 0 ? {} : { dataSchemas: Object.fromEntries(kept) };
}
