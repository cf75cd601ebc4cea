// One schema out of what JSON Schema has for saying it in pieces: references into itself, intersections, and "this or null".

export type Schema = Readonly<Record<string, unknown>>;

// A chain of references or a list of parts that is longer was not written by hand.
const refsMax = 16;
const partsMax = 16;

export const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const own = (schema: Schema, word: string): unknown => (Object.hasOwn(schema, word) ? schema[word] : undefined);
export const listIn = (schema: Schema, word: string): readonly unknown[] | null => {
  const value = own(schema, word);
  return Array.isArray(value) ? value : null;
};

export interface Settled {
  readonly schema: Schema;
  readonly isNullable: boolean;
  /** The references that led here: one that leads here again would never end. */
  readonly refs: readonly string[];
}

/** References followed, parts put together, and null taken out of what may be null; null where no single shape is left. */
export function settle(given: Schema, root: Schema, before: readonly string[]): Settled | null {
  let schema = given;
  let isNullable = false;
  let refs = before;
  for (let turns = 0; turns < refsMax; turns++) {
    const ref = own(schema, "$ref");
    const all = listIn(schema, "allOf");
    const any = listIn(schema, "anyOf") ?? listIn(schema, "oneOf");
    if (ref !== undefined) {
      const target = typeof ref === "string" && !refs.includes(ref) ? pointed(root, ref) : null;
      if (target === null) return null;
      refs = [...refs, ref as string];
      schema = { ...target, ...without(schema, "$ref") };
    } else if (all !== null) {
      const whole = all.length <= partsMax && all.every(isSchema) ? together(all, root, refs) : null;
      if (whole === null) return null;
      schema = { ...whole, ...without(schema, "allOf") };
    } else if (any !== null) {
      const parts = any.filter((each) => !(isSchema(each) && isNull(each)));
      if (parts.length < any.length) isNullable = true;
      const literals = parts.map((each) => (isSchema(each) ? literalsOf(each) : null));
      const rest = without(without(schema, "anyOf"), "oneOf");
      if (parts.length === 1 && isSchema(parts[0])) schema = { ...parts[0], ...rest };
      else if (parts.length > 0 && literals.every((each) => each !== null)) schema = { ...rest, enum: literals.flat() };
      else return null;
    } else return { schema, isNullable, refs };
  }
  return null;
}

const without = ({ ...schema }: Schema, word: string): Schema => {
  delete (schema as Record<string, unknown>)[word];
  return schema;
};

const isNull = (schema: Schema): boolean => {
  const literals = literalsOf(schema);
  return own(schema, "type") === "null" || (literals?.length === 1 && literals[0] === null);
};

export const literalsOf = (schema: Schema): readonly unknown[] | null =>
  Object.hasOwn(schema, "const") ? [schema.const] : listIn(schema, "enum");

/** Only inside the schema itself: `#/$defs/address`. */
function pointed(root: Schema, ref: string): Schema | null {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return null;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const word = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isSchema(at) ? own(at, word) : undefined;
  }
  return isSchema(at) ? at : null;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** An intersection of objects is one object with the fields of all. */
function together(parts: readonly Schema[], root: Schema, refs: readonly string[]): Schema | null {
  let whole: Schema = { type: "object", properties: {}, required: [] };
  for (const part of parts) {
    const ref = own(part, "$ref");
    if (typeof ref === "string" && refs.includes(ref)) return null;
    const found = typeof ref === "string" ? pointed(root, ref) : part;
    const properties = found === null ? undefined : own(found, "properties");
    if (found === null || !isSchema(properties)) return null;
    whole = {
      ...whole,
      properties: { ...(whole.properties as Schema), ...properties },
      required: [...(whole.required as unknown[]), ...(listIn(found, "required") ?? [])],
    };
  }
  return whole;
}
