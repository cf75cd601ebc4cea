// A JSON Schema as the fields of a form. Of the schema's language only what a form can draw is read; whatever else stands in it becomes a
// field for JSON, so that nothing is unreachable. Schemas are strangers' words: nothing in them is followed without a bound.
import { isSchema, listIn, literalsOf, own, type Schema, type Settled, settle } from "./settle-schema.ts";

interface Named {
  readonly name: string;
  readonly isRequired: boolean;
  /** Null may stand in its place. */
  readonly isNullable: boolean;
  readonly about: string | null;
  /** Its first value, as JSON text: its default, or an example. */
  readonly beginning: string | null;
}

export interface Bound {
  readonly value: number;
  readonly isExclusive: boolean;
}

export interface TextShape {
  readonly kind: "text";
  readonly format: string | null;
  readonly minLength: number | null;
  readonly maxLength: number | null;
  readonly pattern: string | null;
}
export interface NumberShape {
  readonly kind: "number";
  readonly isInteger: boolean;
  readonly min: Bound | null;
  readonly max: Bound | null;
}
export interface ChoiceShape {
  readonly kind: "choice";
  /** JSON texts. */
  readonly literals: readonly string[];
}
export interface GroupShape {
  readonly kind: "group";
  readonly fields: readonly DataField[];
  /** False where a form has no room for all of them. */
  readonly isWhole: boolean;
}
export type ItemShape = TextShape | NumberShape | ChoiceShape;
export interface ListShape {
  readonly kind: "list";
  readonly item: ItemShape;
  readonly minItems: number | null;
  readonly maxItems: number | null;
}
type Shape = ItemShape | GroupShape | ListShape | { readonly kind: "json" };
export type DataField = Named & Shape;

interface Reading {
  readonly root: Schema;
  /** Fields there is still room for. */
  left: number;
}

// A longer form is filled in by nobody, a deeper one is not understood.
const fieldsMax = 200;
const depthMax = 6;
const aboutCharsMax = 300;

const numberIn = (schema: Schema, word: string): number | null => {
  const value = own(schema, word);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
};
const textIn = (schema: Schema, word: string): string | null => {
  const value = own(schema, word);
  return typeof value === "string" && value !== "" ? value : null;
};
const json = { kind: "json" } as const;

/** The fields of an event's data; null for data that is not an object with named fields. */
export function fieldsOf(schema: unknown): GroupShape | null {
  if (!isSchema(schema)) return null;
  const { shape } = read(schema, { root: schema, left: fieldsMax }, 0, []);
  return shape.kind === "group" && shape.fields.length > 0 ? shape : null;
}

function read(given: Schema, reading: Reading, depth: number, refs: readonly string[]) {
  const settled = settle(given, reading.root, refs);
  if (settled === null) return { shape: json as Shape, isNullable: false, schema: given };
  const { schema, isNullable } = settled;
  return { shape: shapeOf(settled, reading, depth), isNullable, schema };
}

function shapeOf({ schema, refs }: Settled, reading: Reading, depth: number): Shape {
  const literals = literalsOf(schema);
  if (literals !== null) {
    return literals.length === 0 ? json : { kind: "choice", literals: [...new Set(literals.map(textOf))] };
  }
  switch (typeOf(schema)) {
    case "string":
      return {
        kind: "text",
        format: textIn(schema, "format"),
        minLength: numberIn(schema, "minLength"),
        maxLength: numberIn(schema, "maxLength"),
        pattern: textIn(schema, "pattern"),
      };
    case "number":
    case "integer":
      return {
        kind: "number",
        isInteger: typeOf(schema) === "integer",
        min: boundIn(schema, "minimum", "exclusiveMinimum"),
        max: boundIn(schema, "maximum", "exclusiveMaximum"),
      };
    case "boolean":
      return { kind: "choice", literals: ["true", "false"] };
    case "object":
      return groupOf(schema, reading, depth, refs);
    case "array":
      return listOf(schema, reading, depth, refs);
    default:
      return json;
  }
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? "null";

/** The one type a value may have beside null; null where there are several or none is named. */
function typeOf(schema: Schema): string | null {
  const given = own(schema, "type");
  const types = (Array.isArray(given) ? given : [given]).filter((each) => each !== "null");
  if (types.length === 1 && typeof types[0] === "string") return types[0];
  return given === undefined && isSchema(own(schema, "properties")) ? "object" : null;
}

function boundIn(schema: Schema, inclusive: string, exclusive: string): Bound | null {
  const beyond = numberIn(schema, exclusive);
  const value = beyond ?? numberIn(schema, inclusive);
  // JavaScript's largest integer is the library's bound, not the author's.
  if (value === null || Math.abs(value) >= Number.MAX_SAFE_INTEGER) return null;
  return { value, isExclusive: beyond !== null };
}

function groupOf(schema: Schema, reading: Reading, depth: number, refs: readonly string[]): Shape {
  const properties = own(schema, "properties");
  if (!isSchema(properties) || depth >= depthMax) return json;
  const required = new Set(listIn(schema, "required") ?? []);
  const fields: DataField[] = [];
  const all = Object.keys(properties);
  for (const name of all) {
    if (reading.left <= 0) break;
    reading.left--;
    fields.push(fieldOf(name, properties[name], required.has(name), reading, depth, refs));
  }
  return { kind: "group", fields, isWhole: fields.length === all.length };
}

function fieldOf(
  name: string,
  given: unknown,
  isRequired: boolean,
  reading: Reading,
  depth: number,
  refs: readonly string[],
): DataField {
  const plain = isSchema(given) ? given : {};
  const { shape, isNullable, schema } = read(plain, reading, depth + 1, refs);
  const types = listIn(schema, "type");
  return {
    name,
    isRequired,
    isNullable: isNullable || types?.includes("null") === true,
    about: aboutOf(schema),
    beginning: beginningIn(schema, shape, isRequired),
    ...shape,
  };
}

function aboutOf(schema: Schema): string | null {
  const about = [textIn(schema, "title"), textIn(schema, "description")].filter((each) => each !== null).join(". ");
  return about === "" ? null : about.slice(0, aboutCharsMax);
}

function beginningIn(schema: Schema, shape: Shape, isRequired: boolean): string | null {
  if (Object.hasOwn(schema, "default")) return textOf(schema.default);
  const examples = listIn(schema, "examples");
  if (examples !== null && examples.length > 0) return textOf(examples[0]);
  return isRequired && shape.kind === "choice" && shape.literals.length === 1 ? shape.literals[0]! : null;
}

function listOf(schema: Schema, reading: Reading, depth: number, refs: readonly string[]): Shape {
  const items = own(schema, "items");
  if (!isSchema(items) || Object.hasOwn(schema, "prefixItems") || depth >= depthMax) return json;
  const { shape, isNullable } = read(items, reading, depth + 1, refs);
  if (isNullable || (shape.kind !== "text" && shape.kind !== "number" && shape.kind !== "choice")) return json;
  return { kind: "list", item: shape, minItems: numberIn(schema, "minItems"), maxItems: numberIn(schema, "maxItems") };
}

/** The form's first contents, as a value. */
export function beginningOf(group: GroupShape): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    group.fields.flatMap((field): [string, unknown][] => {
      if (field.beginning !== null) return [[field.name, JSON.parse(field.beginning) as unknown]];
      if (!field.isRequired) return [];
      if (field.isNullable) return [[field.name, null]];
      if (field.kind === "group") return [[field.name, beginningOf(field)]];
      return field.kind === "list" ? [[field.name, []]] : [];
    }),
  );
}
