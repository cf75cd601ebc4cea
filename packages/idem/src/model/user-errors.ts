// The errors authors throw and catch. Final versus retryable is a type, not a flag that is easily forgotten.
import { fromJson } from "./json.ts";

/** Thrown in a step or function: trying again cannot help, so no retry follows. */
export class NonRetriableError extends Error {
  override readonly name: string = "NonRetriableError";
}

/** Thrown in a step or function: try again, but not before the given time (seconds' string, duration, ms, or a Date). */
export class RetryAfterError extends Error {
  override readonly name: string = "RetryAfterError";
  constructor(
    message: string,
    readonly retryAfter: number | string | Date,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** Thrown into the function's code by a step that failed for good; catch it to go on without the step. */
export class StepError extends Error {
  override readonly name: string;
  readonly code?: string;
  constructor(
    /** The step's id as its author wrote it. */
    readonly stepId: string,
    failure: SerializedError,
  ) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.name = failure.name;
    if (failure.stack !== undefined) this.stack = failure.stack;
    if (failure.code !== undefined) this.code = failure.code;
  }
}

export interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  readonly cause?: unknown;
}

// Enough for any honest chain, and an end for one that loops.
const causesMax = 5;
// A stack is for reading; a megabyte of it is not.
const textMax = 32_768;

export function serializeError(error: unknown): string {
  return JSON.stringify(describe(error, causesMax));
}

function describe(error: unknown, causesLeft: number): SerializedError {
  try {
    if (typeof error !== "object" || error === null) {
      return { name: "Error", message: clip(typeof error === "string" ? error : String(error)) };
    }
    const { name, message, stack, code, cause } = error as Record<string, unknown>;
    return {
      name: typeof name === "string" && name !== "" ? clip(name) : "Error",
      message: typeof message === "string" ? clip(message) : clip(describeObject(error)),
      ...(typeof stack === "string" ? { stack: clip(stack) } : {}),
      ...(typeof code === "string" ? { code: clip(code) } : {}),
      ...(cause === undefined || causesLeft === 0 ? {} : { cause: describe(cause, causesLeft - 1) }),
    };
  } catch {
    // A thrown value whose own properties throw: that it was thrown is all that can be said.
    return { name: "Error", message: "a value was thrown that cannot be described" };
  }
}

const describeObject = (value: object): string => JSON.stringify(value) ?? String(value);
const clip = (text: string): string => (text.length <= textMax ? text : `${text.slice(0, textMax)}…`);

export function readError(json: string): SerializedError {
  const value = fromJson(json);
  if (typeof value !== "object" || value === null) return { name: "Error", message: String(value) };
  const { name, message, ...rest } = value as Record<string, unknown>;
  return { ...rest, name: String(name ?? "Error"), message: String(message ?? "") };
}
