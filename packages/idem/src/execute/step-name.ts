// How a step is named in user code: a text, or an object that also says how long an attempt may take.
import { errors } from "../model/errors.ts";
import { readTimeout } from "../model/function-options.ts";

/** A step's id, or an object that has one (`{ id, name }` as in SDK v4). */
export type StepIdInput = string | { readonly id: string; readonly name?: string };

/** The same for a step that runs code: `{ id, timeout }` is how long an attempt may take, "30s" or milliseconds. */
export type LimitedIdInput =
  | string
  | { readonly id: string; readonly name?: string; readonly timeout?: string | number };

export interface LimitedId {
  readonly step: string;
  /** Null for the function's own limit. */
  readonly limitMs: number | null;
}

export function limitedId(input: LimitedIdInput): LimitedId {
  const { id, timeout } = typeof input === "string" ? { id: input } : { ...input };
  if (typeof id !== "string" || id === "") {
    throw errors.STEP_INVALID({ step: String(id), why: "its id must be a non-empty string" });
  }
  return { step: id, limitMs: readTimeout(timeout, `timeout of step "${id}"`) };
}
