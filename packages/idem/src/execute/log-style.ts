// Loggers are called in two ways: fields first (pino, bunyan) or the message first (winston and most others); a console gets lines.
// Idem's own lines are written once, as a text with its fields, and put into the logger's own way here.
import type { SerializedError } from "../model/user-errors.ts";
import type { Logger } from "./function-code.ts";

/** `lines`: one text, a stack beneath it · `fields-first`: (fields, message) · `message-first`: (message, fields) */
export type LogStyle = "lines" | "fields-first" | "message-first";

export const logStyles: readonly LogStyle[] = ["lines", "fields-first", "message-first"];

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes nothing, as for `logger: false`. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

type Marked = Logger & Partial<Record<"child" | "transports" | "configure" | "table" | "groupEnd", unknown>>;

/**
 * A message that comes second to a logger that wants it first is lost, the other way round it is only the fields: so a logger that cannot
 * be recognised gets the message first.
 */
export function styleOf(logger: Logger): LogStyle {
  const { child, transports, configure, table, groupEnd } = logger as Marked;
  if (typeof table === "function" && typeof groupEnd === "function") return "lines";
  const isWinston = transports !== undefined && typeof configure === "function";
  return typeof child === "function" && !isWinston ? "fields-first" : "message-first";
}

/** Says one thing in the logger's own way. */
export type Say = (
  level: keyof Logger,
  message: string,
  fields: LogFields,
  error: SerializedError | Error | null,
) => void;

export function sayingIn(logger: Logger, style: LogStyle): Say {
  switch (style) {
    case "lines":
      return (level, message, _fields, error) => logger[level](withStack(`idem: ${message}`, error));
    case "fields-first":
      return (level, message, fields, error) => logger[level](withError(fields, error), message);
    case "message-first":
      return (level, message, fields, error) => logger[level](message, withError(fields, error));
  }
}

/** For Idem's own rooms, which call it with a text and, sometimes, an error. */
export function ownLogger(logger: Logger, style: LogStyle = styleOf(logger)): Logger {
  // Only where fields come first would the error be dropped.
  if (style !== "fields-first") return logger;
  const say = sayingIn(logger, style);
  const at =
    (level: keyof Logger) =>
    (...words: unknown[]) => {
      const error = words.find((word) => word instanceof Error) ?? null;
      say(level, words.filter((word) => word !== error).join(" "), {}, error);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** For the handler of a run: lines that say which run they are of, where the logger can. Made with the first line. */
export function loggerOfRun(logger: Logger, fieldsOf: () => LogFields): () => Logger {
  let made: Logger | null = null;
  return () => {
    made ??= childOf(logger, fieldsOf());
    return made;
  };
}

function childOf(logger: Logger, fields: LogFields): Logger {
  const { child } = logger as { child?: unknown };
  if (typeof child !== "function") return logger;
  try {
    return child.call(logger, fields) as Logger;
  } catch {
    return logger;
  }
}

/** An error that serializers know (`err` of pino and bunyan) and that JSON writes whole. */
function withError(fields: LogFields, error: SerializedError | Error | null): LogFields {
  if (error === null) return fields;
  const { name, message, stack, cause } = error;
  const err = new Error(message);
  for (const [key, value] of Object.entries({ name, message, stack, cause, code: (error as SerializedError).code })) {
    if (value !== undefined) Object.defineProperty(err, key, { value, enumerable: true, configurable: true });
  }
  return { ...fields, err };
}

const causesMax = 5;

/** The frames beneath the line, and what caused it. */
function withStack(line: string, error: SerializedError | Error | null): string {
  if (error === null) return line;
  const [, ...restOfMessage] = error.message.split("\n");
  const lines = [line, ...restOfMessage.map((each) => `    ${each}`), ...framesOf(error)];
  let cause = error.cause as SerializedError | undefined;
  for (let i = 0; i < causesMax && typeof cause?.message === "string"; i++) {
    lines.push(`  caused by ${cause.name}: ${cause.message}`, ...framesOf(cause));
    cause = cause.cause as SerializedError | undefined;
  }
  return lines.join("\n");
}

/** Without the message, which stands in the line above. */
const framesOf = ({ stack }: { readonly stack?: string | undefined }): string[] =>
  stack === undefined ? [] : stack.split("\n").filter((line) => /^\s+at /.test(line));
