// A field in words: its label, and what is known of it before anybody typed.
import { visibleText } from "../visible-text.ts";
import { formatWords } from "./check-data.ts";
import type { Bound, DataField } from "./schema-fields.ts";

export const labelOf = ({ name, isRequired }: Pick<DataField, "name" | "isRequired">): string =>
  `${visibleText(name)}${isRequired ? " (required)" : ""}`;

/** Null when there is nothing to say. */
export function hintOf(field: DataField): string | null {
  const parts = [field.about === null ? null : visibleText(field.about), shapeWords(field), nullWords(field)];
  const said = parts.filter((part) => part !== null && part !== "");
  return said.length === 0 ? null : said.join(" · ");
}

function shapeWords(field: DataField): string | null {
  switch (field.kind) {
    case "text":
      return field.format === null ? null : capital(formatWords(field.format) ?? visibleText(field.format));
    case "number":
      return [
        field.isInteger ? "Whole number" : "Number",
        boundWords("from", "above", field.min),
        boundWords("to", "below", field.max),
      ]
        .filter((part) => part !== null)
        .join(" ");
    case "json":
      return "As JSON";
    default:
      return null;
  }
}

const boundWords = (inclusive: string, exclusive: string, bound: Bound | null): string | null =>
  bound === null ? null : `${bound.isExclusive ? exclusive : inclusive} ${bound.value}`;

const nullWords = ({ isNullable, isRequired, kind }: DataField): string | null =>
  isNullable && isRequired && kind !== "json" && kind !== "group" ? "Null while it is empty" : null;

const capital = (words: string): string => words.slice(0, 1).toUpperCase() + words.slice(1);

/** A choice in words: a text without its quotes. */
export function choiceWords(literal: string): string {
  const value = JSON.parse(literal) as unknown;
  return visibleText(typeof value === "string" && value !== "" ? value : literal);
}
