// Turns a body at POST /e/:key into a list of events (docs/reference/wire.md#events). The events themselves are checked where all
// events are (ingest/accept-events.ts); here they are brought into the shape senders on this wire mean.
import { errors } from "../model/errors.ts";
import { placeOf } from "../model/event.ts";
import { isJsonObject } from "../model/json.ts";
import { mergeSessions } from "./event-sessions.ts";
import { formFieldsMax, hasTooManyPairs, hasTooManyParts } from "./form-size.ts";

export const formTypes = ["application/x-www-form-urlencoded", "multipart/form-data"] as const;

export interface EventBody {
  /** As the request names it, parameters included; undefined for none. */
  readonly contentType: string | undefined;
  readonly bytes: Uint8Array;
  /** The name for what a form brings: `?name=…`. */
  readonly formName: string | null;
  /** Throws BODY_INVALID. */
  json(): unknown;
}

/** One object is one event; a form is one event whose data are its fields, each a list of strings. */
export async function readEventBody(body: EventBody): Promise<unknown[]> {
  const value = isForm(body) ? await readForm(body) : body.json();
  return Array.isArray(value) ? value : [value];
}

/** `curl -d '{…}'` says form and sends JSON; no form begins with a brace, because in one it would be written %7B. */
const isForm = ({ contentType, bytes }: EventBody): boolean =>
  formTypes.some((type) => contentType?.toLowerCase().startsWith(type)) && bytes[0] !== 0x7b && bytes[0] !== 0x5b;

async function readForm({ contentType, bytes, formName }: EventBody): Promise<unknown> {
  if (formName === null) {
    throw errors.EVENT_INVALID({
      where: "The form",
      why: "it has no event name: name it in the URL (?name=shop/form.sent), or send JSON",
    });
  }
  const data: Record<string, string[]> = Object.create(null);
  for (const [field, value] of await fieldsOf(contentType!, bytes)) {
    if (typeof value !== "string") {
      throw errors.EVENT_INVALID({
        where: "The form",
        why: `field "${field.slice(0, 64)}" is a file: store it elsewhere and send its address`,
      });
    }
    data[field] ??= [];
    data[field].push(value);
  }
  return { name: formName, data };
}

async function fieldsOf(contentType: string, bytes: Uint8Array): Promise<Iterable<[string, unknown]>> {
  const isMultipart = contentType.toLowerCase().startsWith("multipart/");
  if (isMultipart ? hasTooManyParts(bytes) : hasTooManyPairs(bytes)) {
    throw errors.BODY_INVALID({ why: `it is a form of more than ${formFieldsMax} fields; send the event as JSON` });
  }
  try {
    return await new Response(bytes, { headers: { "content-type": contentType } }).formData();
  } catch (error) {
    throw errors.BODY_INVALID(
      { why: "it is not the form its content type says; send the event as application/json" },
      { cause: error },
    );
  }
}

/** The same events, without what only servers may say and with what senders may leave out. */
export const normaliseEvents = (events: readonly unknown[]): unknown[] =>
  events.map((event, i) => normaliseEvent(event, placeOf(i, events.length)));

export function normaliseEvent(event: unknown, where: string): unknown {
  if (!isJsonObject(event)) return event;
  if (isNormal(event)) return event;
  const { ts, user, meta, data, ...rest } = event;
  return {
    ...rest,
    data: withoutInternals(data),
    // Zero is what languages without "absent" write for it.
    ...(ts === 0 || ts === null ? {} : { ts }),
    ...(user === null ? {} : { user }),
    ...(meta === undefined || meta === null ? {} : { meta: mergeSessions(meta, where) }),
  };
}

/** Nothing is left out of it and nothing added. */
const isNormal = ({ ts, user, meta, data }: Record<string, unknown>): boolean =>
  ts !== 0 &&
  ts !== null &&
  user !== null &&
  meta === undefined &&
  (!isJsonObject(data) || !Object.hasOwn(data, "_inngest"));

/** `_inngest` says who invoked whom; an event from outside must not. */
export function withoutInternals(data: unknown): unknown {
  if (!isJsonObject(data) || !Object.hasOwn(data, "_inngest")) return data;
  const { _inngest, ...rest } = data;
  return rest;
}
