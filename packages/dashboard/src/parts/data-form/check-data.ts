// Mistakes of data against its schema, field by field, for the person who fills it in. Only fields the form draws are looked at: the app has the
// whole schema and the last word, so nothing is ever refused here.
import { entriesOf, type JsonSlice, sliceAt, stringOf } from "../json-text.ts";
import { type Path, sliceOf } from "./json-edit.ts";
import { isQuickPattern } from "./quick-pattern.ts";
import type {
  Bound,
  ChoiceShape,
  DataField,
  GroupShape,
  ItemShape,
  ListShape,
  NumberShape,
  TextShape,
} from "./schema-fields.ts";

export interface Mistake {
  readonly path: Path;
  readonly words: string;
  /** Nothing stands there yet: shown only once a person wants to send it. */
  readonly isMissing: boolean;
}

export const placeOf = (path: Path): string => JSON.stringify(path);

// More are not read; and a list may have thousands of wrong items.
const mistakesMax = 50;
const patternTextMax = 256;

/** `text` is JSON. */
export function checkData(group: GroupShape, text: string): readonly Mistake[] {
  const top = sliceAt(text);
  if (top.kind !== "object") return [{ path: [], words: "The data must be an object", isMissing: false }];
  const found: Mistake[] = [];
  checkGroup(group, text, [], found);
  return found;
}

function checkGroup(group: GroupShape, text: string, path: Path, found: Mistake[]): void {
  for (const field of group.fields) {
    if (found.length >= mistakesMax) return;
    const at = [...path, field.name];
    const slice = sliceOf(text, at);
    if (slice === null) {
      if (field.isRequired) found.push({ path: at, words: "It is required", isMissing: true });
    } else if (slice.kind !== "null" || !field.isNullable) checkField(field, text, slice, at, found);
  }
}

function checkField(field: DataField, text: string, slice: JsonSlice, path: Path, found: Mistake[]): void {
  const wrong = (words: string) => void found.push({ path, words, isMissing: false });
  switch (field.kind) {
    case "json":
      break;
    case "group":
      if (slice.kind === "object") checkGroup(field, text, path, found);
      else wrong("It must be an object");
      break;
    case "list":
      if (slice.kind === "array") checkList(field, text, slice, path, found);
      else wrong("It must be a list");
      break;
    default: {
      const words = itemMistake(field, slice.kind, text.slice(slice.start, slice.end));
      if (words !== null) wrong(words);
    }
  }
}

function checkList(list: ListShape, text: string, slice: JsonSlice, path: Path, found: Mistake[]): void {
  const { entries, count } = entriesOf(text, slice, Number.POSITIVE_INFINITY);
  const { minItems, maxItems } = list;
  if (minItems !== null && count < minItems) {
    found.push({
      path,
      words: `It must have at least ${minItems} ${minItems === 1 ? "entry" : "entries"}`,
      isMissing: count === 0,
    });
  }
  if (maxItems !== null && count > maxItems) {
    found.push({
      path,
      words: `It must have at most ${maxItems} ${maxItems === 1 ? "entry" : "entries"}`,
      isMissing: false,
    });
  }
  for (const { name, value } of entries) {
    if (found.length >= mistakesMax) return;
    const words = itemMistake(list.item, value.kind, text.slice(value.start, value.end));
    if (words !== null) found.push({ path: [...path, name], words, isMissing: false });
  }
}

function itemMistake(shape: ItemShape, kind: JsonSlice["kind"], literal: string): string | null {
  switch (shape.kind) {
    case "choice":
      return choiceMistake(shape, literal);
    case "number":
      return kind === "number" ? numberMistake(shape, Number(literal)) : "It must be a number";
    case "text":
      return kind === "string" ? textMistake(shape, stringOf(literal)) : "It must be a text";
  }
}

function choiceMistake({ literals }: ChoiceShape, literal: string): string | null {
  if (literals.includes(JSON.stringify(JSON.parse(literal)))) return null;
  if (literals.length === 1) return `It must be ${literals[0]}`;
  return literals.length > 6 ? "It must be one of the choices" : `It must be one of ${literals.join(", ")}`;
}

function numberMistake({ isInteger, min, max }: NumberShape, value: number): string | null {
  if (isInteger && !Number.isInteger(value)) return "It must be a whole number";
  if (min !== null && isBelow(value, min))
    return `It must be ${min.isExclusive ? "more than" : "at least"} ${min.value}`;
  if (max !== null && isBelow(-value, { ...max, value: -max.value })) {
    return `It must be ${max.isExclusive ? "less than" : "at most"} ${max.value}`;
  }
  return null;
}

const isBelow = (value: number, { value: bound, isExclusive }: Bound): boolean =>
  isExclusive ? value <= bound : value < bound;

function textMistake({ minLength, maxLength, pattern, format }: TextShape, value: string): string | null {
  // JSON Schema counts characters, not the halves JavaScript has of some.
  const length = [...value].length;
  const characters = (count: number) => `${count} ${count === 1 ? "character" : "characters"}`;
  if (minLength !== null && length < minLength) return `It must have at least ${characters(minLength)}`;
  if (maxLength !== null && length > maxLength) return `It must have at most ${characters(maxLength)}`;
  if (pattern === null || value.length > patternTextMax || !isQuickPattern(pattern)) return null;
  if (new RegExp(pattern, "u").test(value)) return null;
  const known = format === null ? undefined : formatWords(format);
  if (known !== undefined) return `It must be ${known}`;
  return pattern.length > 60 ? "It does not have the form the schema asks for" : `It must match ${pattern}`;
}

const formats: Readonly<Record<string, string>> = {
  "date-time": "a date and time, such as 2026-05-17T14:46:00Z",
  date: "a date, such as 2026-05-17",
  time: "a time, such as 14:46:00",
  duration: "a duration, such as PT15M",
  email: "an e-mail address",
  uri: "a URL",
  uuid: "a UUID",
};

/** "a date, such as 2026-05-17" */
export const formatWords = (format: string): string | undefined =>
  Object.hasOwn(formats, format) ? formats[format] : undefined;
