// Without a schema, the fields of a payload that can be filled in one by one: the plain values of its first level. Changing one changes its place in the
// text and nothing else.
import { entriesOf, type JsonSlice, sliceAt, stringOf } from "../json-text.ts";

export interface PlainField {
  readonly name: string;
  readonly value: string;
  readonly slice: JsonSlice;
}

// A form longer than this is read more easily as JSON.
const fieldsMax = 20;

export function plainFields(text: string): readonly PlainField[] {
  const top = sliceAt(text);
  if (top.kind !== "object") return [];
  return entriesOf(text, top, fieldsMax)
    .entries.filter(
      ({ value }) =>
        value.kind === "string" || value.kind === "number" || value.kind === "boolean" || value.kind === "null",
    )
    .map(({ name, value }) => {
      const literal = text.slice(value.start, value.end);
      return { name: String(name), value: value.kind === "string" ? stringOf(literal) : literal, slice: value };
    });
}

/** A text stays a text; a number or a word of JSON stays one as long as it is one. */
export function withField(text: string, { slice }: PlainField, value: string): string {
  const literal = slice.kind !== "string" && isPlainJson(value) ? value : JSON.stringify(value);
  return text.slice(0, slice.start) + literal + text.slice(slice.end);
}

const isPlainJson = (text: string): boolean => /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(text);

/** Null when it is JSON; else what is wrong with it. */
export function jsonMistake(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return `This is not JSON: ${(error as Error).message}`;
  }
}
