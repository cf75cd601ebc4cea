// Events are typed from Standard Schema definitions (zod, valibot, …): what a sender may send and what a handler receives.
import { errors } from "../model/errors.ts";
import type { InputOfSchema, StandardSchema } from "./standard-schema.ts";

/** Event name → schema of its `data`. */
export type EventSchemas = Record<string, StandardSchema>;

// What was sent is stored as it was sent: a schema checks, it does not change. So both sides see the schema's input type.
// Without a schema data is any, not a record of any: a record could not be handed to a function that names its fields.
export type DataOf<Schemas extends EventSchemas, Name extends string> = string extends keyof Schemas
  ? any
  : Name extends keyof Schemas
    ? InputOfSchema<Schemas[Name]>
    : any;

export interface SentEvent<Name extends string, Data> {
  name: Name;
  data?: Data;
  /** Makes two sends the same: inside the window the second does nothing and is shown with the first. */
  id?: string;
  /** Milliseconds; a time in the future delays the start of runs. */
  ts?: number;
  v?: string;
  user?: unknown;
  meta?: unknown;
}

/** What `send` takes: any event of the schemas, or any other event when there is no schema for its name. */
export type EventToSend<Schemas extends EventSchemas> = string extends keyof Schemas
  ? SentEvent<string, Record<string, any>>
  : { [Name in keyof Schemas & string]: SentEvent<Name, DataOf<Schemas, Name>> }[keyof Schemas & string];

export interface ReceivedEvent<Name extends string, Data> {
  readonly id: string;
  readonly name: Name;
  readonly data: Data;
  readonly ts: number;
  readonly v?: string;
  readonly user?: any;
}

/** Refuses an event whose data does not fit its schema; the error names the path. */
export async function checkSchema(schemas: EventSchemas, event: unknown, where: string): Promise<void> {
  if (typeof event !== "object" || event === null) return;
  const { name, data } = event as { name?: unknown; data?: unknown };
  if (typeof name !== "string" || !Object.hasOwn(schemas, name)) return;
  const result = await schemas[name]!["~standard"].validate(data ?? {});
  if (result.issues === undefined) return;
  const issue = result.issues[0];
  const path = ["data", ...(issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part))];
  throw errors.EVENT_SCHEMA({ where: `${where} "${name}"`, path: path.join("."), why: issue?.message ?? "invalid" });
}
