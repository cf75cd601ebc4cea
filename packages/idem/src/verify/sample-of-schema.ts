// An example of what a JSON Schema describes: its author's own where there is one, else one made up. Pure, and the same each time.
import type { Json } from "./thing.ts";

type Schema = { readonly [name: string]: Json };

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const list = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

/** The example of the schema's author; null for none. */
export function exampleIn(schema: Json): Json {
  if (!isSchema(schema)) return null;
  return list(schema.examples)[0] ?? schema.example ?? null;
}

const depthMax = 8;

const formats: Readonly<Record<string, string>> = {
  email: "someone@example.com",
  uuid: "3f0b5b2e-8a54-4f4e-9a3c-5d1c8a2f7e10",
  guid: "3f0b5b2e-8a54-4f4e-9a3c-5d1c8a2f7e10",
  "date-time": "2026-06-01T09:00:00.000Z",
  date: "2026-06-01",
  time: "09:00:00",
  uri: "https://example.com/",
  url: "https://example.com/",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
};

/** Undefined where nothing can be made up: a pattern nobody answers, a schema without end. */
export function sampleOf(schema: Json): Json | undefined {
  return sample(schema, schema, "value", 0);
}

function sample(schema: Json, root: Json, name: string, depth: number): Json | undefined {
  if (schema === true) return name;
  if (!isSchema(schema) || depth > depthMax) return undefined;
  const given = exampleIn(schema);
  if (given !== null) return given;
  if (schema.default !== undefined) return schema.default;
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return schema.enum[0] as Json;
  if (typeof schema.$ref === "string") return sample(pointed(root, schema.$ref), root, name, depth + 1);
  for (const choice of [...list(schema.anyOf), ...list(schema.oneOf)]) {
    const made = sample(choice, root, name, depth + 1);
    if (made !== undefined && made !== null) return made;
  }
  if (Array.isArray(schema.allOf)) return sampleOfAll(schema.allOf as readonly Json[], root, name, depth);
  return sampleOfType(schema, root, name, depth);
}

function sampleOfAll(parts: readonly Json[], root: Json, name: string, depth: number): Json | undefined {
  const made = parts.map((part) => sample(part, root, name, depth + 1));
  if (made.some((each) => each === undefined)) return undefined;
  return made.every((each) => isSchema(each)) ? Object.assign({}, ...made) : made[0];
}

function sampleOfType(schema: Schema, root: Json, name: string, depth: number): Json | undefined {
  const type = Array.isArray(schema.type)
    ? (schema.type as readonly Json[]).find((each) => each !== "null")
    : schema.type;
  switch (type) {
    case "string":
      return sampleText(schema, name);
    case "integer":
    case "number":
      return sampleNumber(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array": {
      const count = Math.max(1, typeof schema.minItems === "number" ? schema.minItems : 1);
      const item = sample(list(schema.prefixItems)[0] ?? schema.items ?? true, root, name, depth + 1);
      return item === undefined ? undefined : Array.from({ length: count }, () => item);
    }
    default:
      return schema.properties === undefined && type !== "object" ? name : sampleObject(schema, root, depth);
  }
}

function sampleObject(schema: Schema, root: Json, depth: number): Json | undefined {
  const required = list(schema.required);
  const made: Record<string, Json> = {};
  for (const [key, part] of Object.entries(isSchema(schema.properties) ? schema.properties : {})) {
    const value = sample(part, root, key, depth + 1);
    if (value !== undefined) made[key] = value;
    else if (required.includes(key)) return undefined;
  }
  return made;
}

function sampleText(schema: Schema, name: string): string | undefined {
  const known = typeof schema.format === "string" ? formats[schema.format] : undefined;
  const { minLength, maxLength, pattern } = schema;
  const text = (known ?? `${name}-7`).padEnd(typeof minLength === "number" ? minLength : 0, "x");
  const fitting = typeof maxLength === "number" ? text.slice(0, maxLength) : text;
  if (typeof pattern !== "string") return fitting;
  try {
    return new RegExp(pattern, "u").test(fitting) ? fitting : undefined;
  } catch {
    return undefined;
  }
}

function sampleNumber(schema: Schema): number {
  const at = (name: string): number | null => {
    const value = schema[name];
    return typeof value === "number" ? value : null;
  };
  const above = at("exclusiveMinimum");
  const low = at("minimum") ?? (above === null ? null : above + 1);
  const below = at("exclusiveMaximum");
  const high = at("maximum") ?? (below === null ? null : below - 1);
  const step = at("multipleOf") ?? 1;
  const wanted = Math.min(Math.max(7, low ?? 7), high ?? Number.POSITIVE_INFINITY);
  const stepped = Math.ceil(wanted / step) * step;
  return high !== null && stepped > high ? wanted : stepped;
}

/** "#/$defs/Order". */
function pointed(root: Json, pointer: string): Json {
  if (!pointer.startsWith("#")) return null;
  const names = pointer.slice(1).split("/").slice(1);
  return names.reduce<Json>((at, name) => {
    const key = decodeURIComponent(name).replaceAll("~1", "/").replaceAll("~0", "~");
    return isSchema(at) ? (at[key] ?? null) : null;
  }, root);
}
