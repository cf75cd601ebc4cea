// Looks for a word in JSON text, in names and values, and says where it stands. Nothing recurs and nothing is written again.
import { entriesOf, type JsonSlice, sliceAt, stringOf } from "./json-text.ts";

export type JsonPath = readonly (string | number)[];

export interface Found {
  readonly path: JsonPath;
  readonly value: JsonSlice;
}

/** The first `max` that hold the word, in the order of the text, and whether there are more. A field whose name fits is found with its value. */
export function findInJson(
  text: string,
  word: string,
  max: number,
): { readonly found: readonly Found[]; readonly hasMore: boolean } {
  const wanted = word.trim().toLowerCase();
  const found: Found[] = [];
  if (wanted === "") return { found, hasMore: false };
  const open: Found[] = [{ path: [], value: sliceAt(text) }];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const { path, value } = at;
    const isBranch = value.kind === "object" || value.kind === "array";
    const name = path.at(-1);
    const isNamed = typeof name === "string" && name.toLowerCase().includes(wanted);
    if (isNamed || (!isBranch && wordsOf(text, value).toLowerCase().includes(wanted))) {
      if (found.length === max) return { found, hasMore: true };
      found.push(at);
    }
    if (!isBranch || !text.slice(value.start, value.end).toLowerCase().includes(wanted)) continue;
    const { entries } = entriesOf(text, value, Number.POSITIVE_INFINITY);
    // The last is looked at first: what is taken from the end comes in the order of the text.
    for (let i = entries.length - 1; i >= 0; i--)
      open.push({ path: [...path, entries[i]!.name], value: entries[i]!.value });
  }
  return { found, hasMore: false };
}

const wordsOf = (text: string, { kind, start, end }: JsonSlice): string =>
  kind === "string" ? stringOf(text.slice(start, end)) : text.slice(start, end);

const isPlain = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name);

/** `data.items[0]["odd name"]`, as expressions write it. */
export const pathWords = (path: JsonPath, root = ""): string =>
  path.reduce<string>(
    (words, name) =>
      typeof name === "number"
        ? `${words}[${name}]`
        : isPlain(name)
          ? `${words}${words === "" ? "" : "."}${name}`
          : `${words}[${JSON.stringify(name)}]`,
    root,
  );

// Longer ones nobody looks for by pointing at them.
const literalCharsMax = 200;

/** `event.data.order == 7`; null for what an expression does not compare. */
export function equalityOf(root: string, path: JsonPath, text: string, { kind, start, end }: JsonSlice): string | null {
  if (path.length === 0 || kind === "object" || kind === "array" || kind === "broken") return null;
  if (end - start > literalCharsMax) return null;
  return `${pathWords(path, root)} == ${text.slice(start, end)}`;
}
