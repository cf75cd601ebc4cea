// The JSON Schema of an event's data, where the library its schema was written with can tell one (Standard JSON Schema: zod from 4.2,
// arktype, valibot with its converter). It only draws a form, so whatever goes wrong here leaves it out and nothing else.
import { schemaBytesMax } from "../model/data-schemas.ts";
import { isJsonObject, toJson } from "../model/json.ts";
import type { JsonSchemaOptions, StandardJsonSchema } from "./standard-schema.ts";

// In turn, until one is answered. With the first zod shows what JSON has no word for (a Date) as anything instead of refusing all of it.
const attempts: readonly JsonSchemaOptions[] = [
  { target: "draft-2020-12", libraryOptions: { unrepresentable: "any" } },
  { target: "draft-2020-12" },
  { target: "draft-07" },
];

/** As text; null for a schema that cannot say, or says more than a form has room for. */
export function dataSchemaOf(schema: unknown): string | null {
  for (const options of attempts) {
    try {
      const standard = (schema as Partial<StandardJsonSchema> | null)?.["~standard"];
      // Of a sender's data, not of what the library makes of it.
      const told: unknown = standard?.jsonSchema?.input(options);
      if (!isJsonObject(told)) return null;
      const text = toJson(told, "JSON Schema");
      return Buffer.byteLength(text) > schemaBytesMax ? null : text;
    } catch {
      // This library does not know the target, or has no JSON Schema for one of its types.
    }
  }
  return null;
}
