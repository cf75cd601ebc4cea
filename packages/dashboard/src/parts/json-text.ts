// Reads JSON text one level at a time and keeps the text of every value: 9007199254740993 stays what it was, and a tree a hundred
// thousand levels deep is only as deep as a person opens it. Nothing recurs.

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null" | "broken";

/** A value where it stands in the text: [start, end). */
export interface JsonSlice {
  readonly kind: JsonKind;
  readonly start: number;
  readonly end: number;
}

export interface JsonEntry {
  /** A field's name, or a place in a list. */
  readonly name: string | number;
  readonly value: JsonSlice;
}

const isSpace = (code: number): boolean => code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Just after the string that begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === '"') return i + 1;
  }
  return text.length;
}

function endOfValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return endOfString(text, at);
  if (first === "{" || first === "[") {
    let depth = 0;
    for (let i = at; i < text.length; i++) {
      const char = text[i];
      if (char === '"') i = endOfString(text, i) - 1;
      else if (char === "{" || char === "[") depth++;
      else if ((char === "}" || char === "]") && --depth === 0) return i + 1;
    }
    return text.length;
  }
  let i = at;
  while (i < text.length && !isSpace(text.charCodeAt(i)) && !",]}".includes(text[i]!)) i++;
  return i;
}

const kinds: Readonly<Record<string, JsonKind>> = {
  "{": "object",
  "[": "array",
  '"': "string",
  t: "boolean",
  f: "boolean",
  n: "null",
};

export function sliceAt(text: string, from = 0): JsonSlice {
  const start = skipSpace(text, from);
  const char = text[start];
  if (char === undefined) return { kind: "broken", start: from, end: text.length };
  const kind = kinds[char] ?? (/[-\d]/.test(char) ? "number" : "broken");
  return { kind, start, end: kind === "broken" ? text.length : endOfValue(text, start) };
}

/** The entries of an object or a list, the first `max` of them, and how many there are. */
export function entriesOf(
  text: string,
  { kind, start, end }: JsonSlice,
  max: number,
): { readonly entries: readonly JsonEntry[]; readonly count: number } {
  const entries: JsonEntry[] = [];
  let count = 0;
  let at = skipSpace(text, start + 1);
  while (at < end - 1) {
    let name: string | number = count;
    if (kind === "object") {
      const nameEnd = endOfString(text, at);
      name = stringOf(text.slice(at, nameEnd));
      at = skipSpace(text, skipSpace(text, nameEnd) + 1);
    }
    const value = sliceAt(text, at);
    if (value.kind === "broken" || value.end <= at) break;
    if (count < max) entries.push({ name, value });
    count++;
    at = skipSpace(text, value.end);
    if (text[at] !== ",") break;
    at = skipSpace(text, at + 1);
  }
  return { entries, count };
}

/** A string's value; text that only looks like one is shown as it stands. */
export function stringOf(literal: string): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}
