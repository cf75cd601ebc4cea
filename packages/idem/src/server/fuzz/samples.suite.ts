// Values that a route's own schema would take, so that what is bent afterwards gets past the first check: of every route of the table that describes itself, also of those
// that are made tomorrow.
import { z } from "zod";
import { storeReadInputs, storeReadNames } from "../api/store-read-shapes.ts";
import type { Route } from "../route.ts";
import type { Chance } from "./chance.suite.ts";

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
}

const schemas = new WeakMap<z.ZodType, JsonSchema>();

function schemaOf(type: z.ZodType): JsonSchema {
  const known = schemas.get(type) ?? (z.toJSONSchema(type, { io: "input", unrepresentable: "any" }) as JsonSchema);
  schemas.set(type, known);
  return known;
}

/** A function that is there to be paused, limited and invoked; never the one that proves that the server does its work. */
export const spareFunction = { id: "spare", slug: "canary-spare", event: "fuzz/sent" } as const;

const texts = [
  spareFunction.slug,
  "ci",
  spareFunction.event,
  "event.data.a == 1",
  "event.data.a",
  "default",
  "7d",
  "90m",
  "2026-01-01T00:00:00Z",
  "1794727034207",
  "because",
  "a@example.com",
  "01JD0000000000000000000000",
  "stripe:order-7:idem_x",
  "http://127.0.0.1:1/x",
];
// In the past: what is deleted or cancelled by them is none of what runs meanwhile.
const numbers = [0, 1, 2, 7, 100, 1_000, 1_794_727_034_207];

const fits = (text: string, { format, pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: JsonSchema) =>
  text.length >= minLength &&
  text.length <= maxLength &&
  (pattern === undefined || new RegExp(pattern, "u").test(text)) &&
  (format !== "uri" || URL.canParse(text));

function sample(schema: JsonSchema, chance: Chance): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return chance.of(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return sample(chance.of(choices), chance);
  if (schema.allOf !== undefined) return sample(schema.allOf[0]!, chance);
  const type = Array.isArray(schema.type) ? chance.of(schema.type as readonly string[]) : schema.type;
  switch (type) {
    case "object": {
      const { properties = {}, required = [] } = schema;
      const given = Object.entries(properties).filter(([name]) => required.includes(name) || chance.is(0.4));
      return Object.fromEntries(given.map(([name, each]) => [name, sample(each, chance)]));
    }
    case "array": {
      if (schema.prefixItems !== undefined) return schema.prefixItems.map((each) => sample(each, chance));
      const { items = {}, minItems = 0, maxItems = 3 } = schema;
      const length = minItems + chance.below(Math.max(1, Math.min(maxItems, minItems + 3) - minItems + 1));
      return Array.from({ length }, () => sample(items, chance));
    }
    case "integer":
    case "number": {
      const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = schema;
      return Math.min(Math.max(chance.of(numbers), minimum), maximum);
    }
    case "boolean":
      return chance.is(0.5);
    case "null":
      return null;
    case "string": {
      const fitting = texts.filter((text) => fits(text, schema));
      return chance.of(fitting.length > 0 ? fitting : texts);
    }
    default:
      return chance.of<unknown>([chance.of(texts), chance.of(numbers), { a: [1] }, [1]]);
  }
}

/** Null where the route says nothing of its body. */
export function sampledBody(route: Route, path: string, chance: Chance): unknown {
  if (route.path === "/api/store/:read") {
    const read = storeReadNames.find((name) => path.endsWith(`/${name}`)) ?? chance.of(storeReadNames);
    return { input: sample(schemaOf(storeReadInputs[read] as z.ZodType), chance) };
  }
  if (route.about?.body === undefined) return null;
  const body = sample(schemaOf(route.about.body), chance) as Record<string, unknown>;
  // Runs that are under way are to end.
  return route.path === "/api/bulk" && body.action === "cancel" ? { ...body, action: "rerun" } : body;
}

/** Of a query, by name; nothing where the route says nothing of it. */
export function sampledQuery(route: Route, chance: Chance): readonly (readonly [string, string])[] {
  if (route.about?.query === undefined) return [];
  const query = sample(schemaOf(route.about.query), chance) as Record<string, unknown>;
  return Object.entries(query).map(([name, value]) => [name, String(value)] as const);
}

/** Values of the parameters whose names are few. */
export const sampledParams: Readonly<Record<string, readonly string[]>> = {
  read: storeReadNames,
  function: [spareFunction.slug],
  view: ["mine"],
  channel: ["ops"],
  rule: ["default", "mine"],
  name: ["ci"],
  bulk: ["bulk-1"],
  backup: ["fuzz-backup"],
  effect: ["stripe:order-7:idem_x"],
};
