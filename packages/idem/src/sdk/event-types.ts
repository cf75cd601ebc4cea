// Events are typed from Standard Schema definitions (zod, valibot, …): what a sender may send and what a handler receives.
import { errors } from "../model/errors.ts";
import type { InputOfSchema, StandardSchema } from "./standard-schema.ts";

/** Event name → schema of its `data`; `"*"` is that of every other name. Without `"*"` the compiler knows no others. */
export type EventSchemas = Record<string, StandardSchema>;

/**
 * Data without a schema: fields are read as they come, as in code written for Inngest. With a schema for the event's name, or one for
 * `"*"`, it does not occur.
 */
// Unknown would refuse code that is taken as it is; a record could not be handed to a function that names its fields.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Untyped = any;

export type NamedIn<Schemas extends EventSchemas> = Exclude<keyof Schemas & string, "*">;

/** Idem's own events: ends of runs, ticks, calls of functions. */
type SystemName = `inngest/${string}`;

/** A name that may be sent: one of the schemas; any where there are none, or one for `"*"`. */
export type EventName<Schemas extends EventSchemas> = string extends keyof Schemas
  ? string
  : "*" extends keyof Schemas
    ? string
    : NamedIn<Schemas>;

/** A name that may be listened to. */
export type HeardName<Schemas extends EventSchemas> = EventName<Schemas> | SystemName;

// Data is stored as it was sent: a schema checks, it does not change. So both sides see the schema's input type.
export type DataOf<Schemas extends EventSchemas, Name extends string> = string extends keyof Schemas
  ? Untyped
  : Name extends NamedIn<Schemas>
    ? InputOfSchema<Schemas[Name]>
    : Name extends SystemName
      ? Untyped
      : Schemas extends { readonly "*": infer Others extends StandardSchema }
        ? InputOfSchema<Others>
        : Untyped;

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

/** An event that may be sent, whichever it is. */
export type EventToSend<Schemas extends EventSchemas> = EventNamed<Schemas, EventName<Schemas>>;

type EventNamed<Schemas extends EventSchemas, Name extends string> = Name extends string
  ? SentEvent<Name, DataOf<Schemas, Name>>
  : never;

// By `{ name }` the compiler finds out which names were given: it infers nothing through a conditional type.
type Given<Schemas extends EventSchemas, Name extends string> = { name: Name } & EventNamed<Schemas, Name>;

/** One event or many, each with the data of its name. */
export type EventsGiven<Schemas extends EventSchemas, Name extends string> =
  | Given<Schemas, Name>
  | readonly Given<Schemas, Name>[];

export interface ReceivedEvent<Name extends string, Data> {
  readonly id: string;
  readonly name: Name;
  readonly data: Data;
  readonly ts: number;
  readonly v?: string;
  readonly user?: unknown;
}

export const schemaOf = (schemas: EventSchemas, name: string): StandardSchema | undefined =>
  Object.hasOwn(schemas, name) ? schemas[name] : name.startsWith("inngest/") ? undefined : schemas["*"];

/** Refuses an event whose data does not fit its schema; the error names the path. */
export async function checkSchema(schemas: EventSchemas, event: unknown, where: string): Promise<void> {
  if (typeof event !== "object" || event === null) return;
  const { name, data } = event as { name?: unknown; data?: unknown };
  const schema = typeof name === "string" ? schemaOf(schemas, name) : undefined;
  if (schema === undefined) return;
  const result = await schema["~standard"].validate(data ?? {});
  if (result.issues === undefined) return;
  const issue = result.issues[0];
  const path = ["data", ...(issue?.path ?? []).map((part) => String(typeof part === "object" ? part.key : part))];
  throw errors.EVENT_SCHEMA({ where: `${where} "${name}"`, path: path.join("."), why: issue?.message ?? "invalid" });
}
