// One line that a function's code wrote through its `logger`, as it is kept with the run. Code may hand a logger anything, of
// any size: it is cut before it is written down, never walked whole.
import { createHash } from "node:crypto";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** A line is read at a glance: what is longer belongs into the step's outcome. */
export const logMessageCharsMax = 2_000;
export const logFieldsCharsMax = 2_000;
/** Of one run, as they are kept; some two thousand lines. */
export const runLogBytesMax = 256 * 1024;

export interface LogLine {
  /** The same when the same line is written again by a repeated call or a replay: kept once. */
  readonly id: string;
  readonly at: number;
  /** Which line of its pass it was: the order within one millisecond. */
  readonly n: number;
  readonly level: LogLevel;
  readonly message: string;
  /** JSON of an object; null for none. */
  readonly fields: string | null;
  /** The step whose body wrote it; null for the code between steps. */
  readonly stepId: string | null;
  /** Of the step, or of the code between steps. */
  readonly attempt: number;
  /** Something of it was too long. */
  readonly isCut: boolean;
}

export interface LogWords {
  readonly message: string;
  readonly fields: string | null;
  readonly isCut: boolean;
}

/** Texts are the message, whatever else there is are its fields, as loggers take them in either order. Throws nothing. */
export function logWords(args: readonly unknown[]): LogWords {
  const texts: string[] = [];
  const fields: Record<string, unknown> = {};
  const cut = { is: false };
  let room = logFieldsCharsMax;
  const spend = (chars: number): boolean => {
    room -= chars;
    if (room < 0) cut.is = true;
    return room >= 0;
  };
  for (const [i, arg] of args.slice(0, argsMax).entries()) {
    if (arg instanceof Error) {
      if (texts.length === 0 && args.length === 1) texts.push(`${arg.name}: ${arg.message}`);
      fields.error = shown(arg, depthMax, spend);
    } else if (typeof arg === "object" && arg !== null) {
      const value = shown(arg, depthMax, spend);
      if (Array.isArray(value) || typeof value !== "object") fields[`${i + 1}`] = value;
      else Object.assign(fields, value);
    } else texts.push(typeof arg === "string" ? arg : String(arg));
  }
  const message = texts.map((text) => text.slice(0, logMessageCharsMax + 1)).join(" ");
  if (args.length > argsMax || message.length > logMessageCharsMax) cut.is = true;
  return {
    message: message.slice(0, logMessageCharsMax),
    fields: Object.keys(fields).length === 0 ? null : JSON.stringify(fields),
    isCut: cut.is,
  };
}

const argsMax = 20;
const depthMax = 4;
const keysMax = 50;
const textMax = 500;

/** The value as JSON, within bounds; a getter that throws says nothing. */
function shown(value: unknown, depth: number, spend: (chars: number) => boolean): unknown {
  try {
    if (typeof value === "string") return spend(Math.min(value.length, textMax) + 2) ? value.slice(0, textMax) : "…";
    if (typeof value === "bigint" || typeof value === "symbol") return String(value);
    if (typeof value === "function" || value === undefined) return undefined;
    if (typeof value !== "object" || value === null) return spend(8) ? value : "…";
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (depth === 0 || !spend(2)) return "…";
    if (value instanceof Error) {
      const { name, message, stack, cause } = value;
      return shown({ name, message, stack, ...(cause === undefined ? {} : { cause }) }, depth, spend);
    }
    if (Array.isArray(value)) return value.slice(0, keysMax).map((each) => shown(each, depth - 1, spend) ?? null);
    if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
    const entries: [string, unknown][] = [];
    for (const key in value) {
      if (!Object.hasOwn(value, key)) continue;
      if (entries.length === keysMax || !spend(key.length + 4)) break;
      entries.push([key.slice(0, textMax), shown((value as Record<string, unknown>)[key], depth - 1, spend)]);
    }
    return Object.fromEntries(entries);
  } catch {
    return "…";
  }
}

/** A run's lines of one commit: one row. */
export interface NewLog {
  /** The same for the same lines: a repeated call adds nothing. */
  readonly part: string;
  readonly text: string;
}

type Row = readonly [string, number, number, number, string, string | null, number, string | null, 0 | 1];

export function writeLog(lines: readonly LogLine[], dropped: number): NewLog {
  const rows = lines.map(
    ({ id, at, n, level, message, fields, stepId, attempt, isCut }): Row => [
      id,
      at,
      n,
      logLevels.indexOf(level),
      message,
      stepId,
      attempt,
      fields,
      isCut ? 1 : 0,
    ],
  );
  const part = hashOf(lines.map(({ id }) => id).join("\n"));
  return { part, text: JSON.stringify({ lines: rows, dropped }) };
}

/** All lines of a run in the order they were written, each once, and how many were too many to be kept. */
export function readLog(parts: readonly string[]): { readonly lines: readonly LogLine[]; readonly dropped: number } {
  const lines = new Map<string, LogLine>();
  let dropped = 0;
  for (const text of parts) {
    const part = JSON.parse(text) as { readonly lines: readonly Row[]; readonly dropped: number };
    dropped += part.dropped;
    for (const [id, at, n, level, message, stepId, attempt, fields, isCut] of part.lines) {
      if (lines.has(id)) continue;
      lines.set(id, { id, at, n, level: logLevels[level]!, message, stepId, attempt, fields, isCut: isCut === 1 });
    }
  }
  const sorted = [...lines.values()].sort((a, b) => a.at - b.at || a.n - b.n || (a.id < b.id ? -1 : 1));
  return { lines: sorted, dropped };
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);
