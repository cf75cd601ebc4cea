// Reading a payload that is authentic and still may be anything.
import { mayHoldLong, parseWritten } from "../../model/long-number.ts";

export const textOf = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

/** Throws for what is no JSON, and for bytes that are no UTF-8. */
export const jsonOf = (bytes: Uint8Array): unknown => parsePayload(textOf(bytes));

/** Payloads that have numbers a double cannot hold, as they were written: code of users sees numbers, keys are made of digits. */
const written = new WeakMap<object, unknown>();

export function parsePayload(text: string): unknown {
  const payload: unknown = JSON.parse(text);
  if (typeof payload === "object" && payload !== null && mayHoldLong(text)) written.set(payload, parseWritten(text));
  return payload;
}

export const writtenOf = (payload: unknown): unknown =>
  (typeof payload === "object" && payload !== null ? written.get(payload) : undefined) ?? payload;

/** By the bytes, which are signed, and not by the content type, which is not. */
export const isForm = (bytes: Uint8Array): boolean =>
  /^[\w.%+-]+=/.test(Buffer.from(bytes.subarray(0, 256)).toString("latin1"));

export const formOf = (bytes: Uint8Array): URLSearchParams => new URLSearchParams(Buffer.from(bytes).toString("utf8"));

/** The value at a path of fields; undefined where there is none. */
export function at(payload: unknown, ...path: readonly string[]): unknown {
  let value = payload;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

// An id becomes part of a key; what is longer is none of a provider's.
const charsMax = 512;

/** Text, or a number as text; null for anything else. */
export function words(value: unknown): string | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" && value.length <= charsMax ? value : null;
}

/** Seconds since 1970, or a date as ISO 8601 writes it, as milliseconds. */
export function instant(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? Math.round(value * 1_000) : null;
  if (typeof value !== "string" || value.length > 64) return null;
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? null : ms;
}
