// A query or a body against its schema: what is not known or does not fit is refused, by the name of the field and the reason.
import { type core, z } from "zod";
import { parseDuration } from "../model/duration.ts";
import { errors, IdemError } from "../model/errors.ts";
import { didYouMean } from "../model/nearest-word.ts";
import type { RouteRequest } from "./route.ts";

export function readQuery<S extends z.ZodObject>(schema: S, query: URLSearchParams): z.output<S> {
  const given: Record<string, string> = {};
  for (const [name, value] of query) {
    if (Object.hasOwn(given, name)) {
      throw errors.REQUEST_INVALID({ why: `query parameter ${shown(name)} is given more than once` });
    }
    Object.defineProperty(given, name, { value, enumerable: true });
  }
  return read(schema, given, "query parameter", Object.keys(schema.shape));
}

/** A request without a body is read as an empty object, so that an action whose fields are all optional needs none. */
export function readBody<S extends z.ZodType>(schema: S, request: Pick<RouteRequest, "body" | "json">): z.output<S> {
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
  return read(schema, request.body.length === 0 ? {} : request.json(), "body field", known);
}

/** A part of a body that has its own shape for each case. */
export const readInput = <S extends z.ZodType>(schema: S, given: unknown, part: string): z.output<S> =>
  read(schema, given, part, []);

function read<S extends z.ZodType>(schema: S, given: unknown, part: string, known: readonly string[]): z.output<S> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  throw errors.REQUEST_INVALID({ why: reasonOf(result.error.issues[0]!, part, known) });
}

function reasonOf(issue: core.$ZodIssue, part: string, known: readonly string[]): string {
  const place = issue.path.map(String).join(".");
  if (issue.code === "unrecognized_keys") {
    const where = place === "" ? "" : ` of ${shown(place)}`;
    const list = known.length > 0 ? `; known are ${known.join(", ")}` : "";
    const hint = place === "" ? didYouMean(issue.keys[0]!, known) || list : "";
    return `${part} ${shown(issue.keys[0]!)}${where} is not known${hint}`;
  }
  const why = issue.message.charAt(0).toLowerCase() + issue.message.slice(1);
  return place === "" ? `the ${part.split(" ")[0]} is not usable: ${why}` : `${part} ${shown(place)}: ${why}`;
}

const nameCharsMax = 60;
const shown = (name: string): string =>
  JSON.stringify(name.length > nameCharsMax ? `${name.slice(0, nameCharsMax)}…` : name);

/** An instant as people write it: milliseconds, ISO 8601, or how long ago ("7d"). */
export const instantText = z
  .string()
  .min(1)
  .max(40)
  .describe('An instant: milliseconds since 1970, ISO 8601 ("2026-05-15T14:46:12Z"), or how long ago ("7d", "90m")');

export function readInstant(field: string, text: string, now: number): number {
  const refuse = (why: string) => errors.REQUEST_INVALID({ why: `${shown(field)} is ${shown(text)}: ${why}` });
  // Up to the year 2286; more digits are another unit.
  if (/^\d{10,13}$/.test(text)) return Number(text);
  if (/^\d{4}-/.test(text)) {
    const ms = Date.parse(text);
    if (Number.isNaN(ms) || ms < 0) throw refuse("it is no date of ISO 8601");
    return ms;
  }
  try {
    return Math.max(0, now - parseDuration(text));
  } catch (error) {
    if (!(error instanceof IdemError)) throw error;
    throw refuse('write it as ISO 8601, as milliseconds, or as a length of time such as "7d"');
  }
}

/** A cursor of several parts, opaque to its bearer. */
export const writeCursor = (...parts: readonly string[]): string =>
  Buffer.from(JSON.stringify(parts)).toString("base64url");

export function readCursor(text: string, partCount: number): string[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const fits = Array.isArray(parts) && parts.length === partCount && parts.every((part) => typeof part === "string");
    if (fits) return parts as string[];
  } catch {
    // Not one of ours; said below.
  }
  throw errors.REQUEST_INVALID({ why: '"before" is no cursor that an earlier page gave' });
}
