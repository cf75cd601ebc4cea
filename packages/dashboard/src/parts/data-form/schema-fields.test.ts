import { expect, test } from "vitest";
import { z } from "zod";
import { beginningOf, type DataField, fieldsOf, type GroupShape } from "./schema-fields.ts";

const group = (schema: unknown): GroupShape => {
  const fields = fieldsOf(schema);
  if (fields === null) throw new Error("there is no form for it");
  return fields;
};
const object = (properties: object, over: object = {}) => ({ type: "object", properties, ...over });
/** The one field of an object that has the schema. */
const field = (schema: unknown, over: object = {}): DataField => group(object({ it: schema }, over)).fields[0]!;

test("what zod says of an event becomes its fields, in the order they were written", () => {
  const event = z.object({
    orderId: z.string().min(3).describe("As the shop numbers them"),
    total: z.number().positive(),
    count: z.number().int().max(10).default(1),
    paidAt: z.iso.datetime().optional(),
    currency: z.enum(["eur", "usd"]),
    isTest: z.boolean(),
    note: z.string().nullable(),
    tags: z.array(z.string()),
    buyer: z.object({ name: z.string(), age: z.number().optional() }),
    any: z.union([z.string(), z.number()]),
    prices: z.record(z.string(), z.number()),
    lines: z.array(z.object({ sku: z.string() })),
  });
  const { fields } = group(event["~standard"].jsonSchema.input({ target: "draft-2020-12" }));
  expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ["orderId", "text", true],
    ["total", "number", true],
    ["count", "number", false],
    ["paidAt", "text", false],
    ["currency", "choice", true],
    ["isTest", "choice", true],
    ["note", "text", true],
    ["tags", "list", true],
    ["buyer", "group", true],
    ["any", "json", true],
    ["prices", "json", true],
    ["lines", "json", true],
  ]);
  const named = (name: string) => fields.find((each) => each.name === name)!;
  expect(named("orderId")).toMatchObject({ minLength: 3, about: "As the shop numbers them" });
  expect(named("total")).toMatchObject({ isInteger: false, min: { value: 0, isExclusive: true }, max: null });
  // The bounds of JavaScript's whole numbers are nobody's wish.
  expect(named("count")).toMatchObject({ isInteger: true, min: null, max: { value: 10 }, beginning: "1" });
  expect(named("paidAt")).toMatchObject({ format: "date-time" });
  expect(named("currency")).toMatchObject({ literals: ['"eur"', '"usd"'] });
  expect(named("note")).toMatchObject({ isNullable: true });
  expect(named("buyer")).toMatchObject({ fields: [{ name: "name" }, { name: "age", isRequired: false }] });
});

test("references inside the schema are followed, with what stands beside them, and none leads out of it", () => {
  const $defs = { "a/b": { type: "string", description: "theirs" }, loop: { $ref: "#/$defs/loop" } };
  const of = (schema: object) => group({ ...object({ it: schema }), $defs, definitions: $defs }).fields[0]!;
  expect(of({ $ref: "#/$defs/a~1b" })).toMatchObject({ kind: "text", about: "theirs" });
  expect(of({ $ref: "#/definitions/a%2Fb", description: "mine" })).toMatchObject({ kind: "text", about: "mine" });
  for (const $ref of ["#/$defs/loop", "#/$defs/none", "https://evil.test/schema", "#/constructor", "#/__proto__", 7]) {
    expect(of({ $ref })).toMatchObject({ kind: "json" });
  }
});

test("a schema that contains itself ends in a field for JSON", () => {
  const category = {
    type: "object",
    properties: { name: { type: "string" }, parent: { $ref: "#" }, twin: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
  };
  const text = JSON.stringify(group(category));
  expect(text.match(/"kind":"json"/g)!.length).toBeGreaterThan(1);
  expect(text.length).toBeLessThan(10_000);
});

test("a schema that doubles with every reference is bounded, and says that it is not whole", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, i) => [
      `d${i}`,
      object(Object.fromEntries(Array.from({ length: 8 }, (_, j) => [`f${j}`, { $ref: `#/$defs/d${i + 1}` }]))),
    ]),
  );
  const form = group({ ...object({ it: { $ref: "#/$defs/d0" } }), $defs });
  expect(JSON.stringify(form).match(/"name":/g)).toHaveLength(200);
  expect(JSON.stringify(form)).toContain('"isWhole":false');
  const deep = Array.from({ length: 20 }).reduce<object>((inner) => object({ it: inner }), { type: "string" });
  expect(JSON.stringify(group(deep)).match(/"kind":"group"/g)).toHaveLength(6);
});

test.each([
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, { kind: "text", isNullable: true }],
  [{ oneOf: [{ type: "null" }, { type: "integer" }] }, { kind: "number", isNullable: true }],
  [{ type: ["string", "null"] }, { kind: "text", isNullable: true }],
  [{ type: ["string", "number"] }, { kind: "json", isNullable: false }],
  [{ anyOf: [{ type: "string" }, { type: "number" }, { type: "null" }] }, { kind: "json" }],
  [{ anyOf: [{ const: "a" }, { const: 2 }] }, { kind: "choice", literals: ['"a"', "2"] }],
  [{ enum: ["a", null] }, { kind: "choice", literals: ['"a"', "null"] }],
  [{ allOf: [object({ a: {} }, { required: ["a"] }), object({ b: {} })] }, { fields: [{ isRequired: true }, {}] }],
  [{ allOf: [{ type: "string" }, { minLength: 3 }] }, { kind: "json" }],
  [
    { type: "array", items: { type: "integer" } },
    { kind: "list", item: { kind: "number" } },
  ],
  [{ type: "array", prefixItems: [{ type: "string" }], items: {} }, { kind: "json" }],
  [{ not: { type: "string" } }, { kind: "json" }],
  [true, { kind: "json" }],
  [{}, { kind: "json" }],
])("%j is drawn as %j", (schema, drawn) => {
  expect(field(schema)).toMatchObject(drawn);
});

test.each([
  null,
  true,
  7,
  "x",
  [],
  {},
  { type: "string" },
  object({}),
  { $ref: "#" },
  { anyOf: [object({}), object({})] },
])("%j is no form", (schema) => {
  expect(fieldsOf(schema)).toBeNull();
});

test("words of a hostile schema stay words: no name reaches a prototype, no bound is taken that is none", () => {
  const schema = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"string","default":"<img src=x onerror=alert(1)>"},"constructor":{"type":"number","minimum":"1","maximum":null}},"required":["__proto__",7]}',
  );
  const { fields } = group(schema);
  expect(fields.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ["__proto__", "text", true],
    ["constructor", "number", false],
  ]);
  expect(fields[1]).toMatchObject({ min: null, max: null });
  expect(JSON.stringify(beginningOf(group(schema)))).toBe('{"__proto__":"<img src=x onerror=alert(1)>"}');
  expect(field({ type: "string", description: "x".repeat(5_000) }).about).toHaveLength(300);
});

test("a form begins with defaults, then examples, and what can only be one thing", () => {
  const schema = object(
    {
      a: { type: "string", default: "d", examples: ["e"] },
      b: { type: "number", examples: [7, 8] },
      c: { const: "fixed" },
      d: { type: ["string", "null"] },
      e: { type: "array", items: { type: "string" } },
      f: object({ g: { const: 1 }, h: { type: "string" } }, { required: ["g", "h"] }),
      i: object({ j: { const: 1 } }, { required: ["j"] }),
      k: { type: "string" },
    },
    { required: ["c", "d", "e", "f", "k"] },
  );
  expect(beginningOf(group(schema))).toEqual({ a: "d", b: 7, c: "fixed", d: null, e: [], f: { g: 1 } });
});
