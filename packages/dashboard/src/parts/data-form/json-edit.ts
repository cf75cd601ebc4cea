// Changes one value of a JSON text and leaves every other character as it stands: numbers JavaScript cannot hold, the layout, fields no
// form knows of. The text is JSON, which its reader has made sure of.
import { entriesOf, type JsonEntry, type JsonSlice, sliceAt } from "../json-text.ts";

export type Path = readonly (string | number)[];

const entriesIn = (text: string, slice: JsonSlice): readonly JsonEntry[] =>
  slice.kind === "object" || slice.kind === "array" ? entriesOf(text, slice, Number.POSITIVE_INFINITY).entries : [];

/** The value's place; null where there is none. */
export function sliceOf(text: string, path: Path): JsonSlice | null {
  let slice = sliceAt(text);
  for (const part of path) {
    // Of two fields of one name the last one counts, as for every reader of JSON.
    const found = entriesIn(text, slice).findLast(({ name }) => name === part);
    if (found === undefined) return null;
    slice = found.value;
  }
  return slice;
}

/** Puts a literal at the path, making the objects and lists on the way. A list grows by one at its end. */
export function withLiteral(text: string, path: Path, literal: string): string {
  const slice = sliceOf(text, path);
  if (slice !== null) return text.slice(0, slice.start) + literal + text.slice(slice.end);
  const parentPath = path.slice(0, -1);
  const last = path.at(-1)!;
  const parent = sliceOf(text, parentPath);
  const wanted = typeof last === "number" ? "array" : "object";
  if (parent === null || parent.kind !== wanted) return withLiteral(text, parentPath, around(last, literal));
  const entry = typeof last === "number" ? literal : `${JSON.stringify(last)}: ${literal}`;
  const entries = entriesIn(text, parent);
  const isLaidOut = text.includes("\n") || entries.length === 0;
  const line = isLaidOut ? `\n${"  ".repeat(path.length)}` : " ";
  const before = entries.at(-1)?.value.end;
  if (before !== undefined) return `${text.slice(0, before)},${line}${entry}${text.slice(before)}`;
  const close = `\n${"  ".repeat(path.length - 1)}`;
  return `${text.slice(0, parent.start + 1)}${line}${entry}${close}${text.slice(parent.end - 1)}`;
}

const around = (name: string | number, literal: string): string =>
  typeof name === "number" ? `[${literal}]` : `{ ${JSON.stringify(name)}: ${literal} }`;

/** Takes the value out, with its name. */
export function withoutValue(text: string, path: Path): string {
  const parent = sliceOf(text, path.slice(0, -1));
  if (parent === null) return text;
  const entries = entriesIn(text, parent);
  const at = entries.findLastIndex(({ name }) => name === path.at(-1));
  const entry = entries[at];
  if (entry === undefined) return text;
  if (entries.length === 1) return text.slice(0, parent.start + 1) + text.slice(parent.end - 1);
  if (at > 0) return text.slice(0, entries[at - 1]!.value.end) + text.slice(entry.value.end);
  return text.slice(0, parent.start + 1) + text.slice(text.indexOf(",", entry.value.end) + 1);
}
