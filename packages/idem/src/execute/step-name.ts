// How a step is named in user code: a text, or an object that also says how long an attempt may take.
import { errors } from "../model/errors.ts";
import { readTimeout } from "../model/function-options.ts";
import { type Foreign, refuseUnknown } from "../model/known-options.ts";

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

// Of the `inngest` package, v4.
const foreignOptions = {
  parallelMode: "steps side by side run in one pass",
  "~span": "the timeline is the trace",
  "~origin": "the timeline is the trace",
};

export function limitedId(input: LimitedIdInput, warn: Foreign["warn"]): LimitedId {
  const { id, timeout } = typeof input === "string" ? { id: input } : { ...input };
  if (typeof id !== "string" || id === "") {
    throw errors.STEP_INVALID({ step: String(id), why: "its id must be a non-empty string" });
  }
  refuseUnknown<Exclude<LimitedIdInput, string>>(
    `step "${id}"`,
    input,
    { id: true, name: true, timeout: true },
    { options: foreignOptions, warn },
  );
  return { step: id, limitMs: readTimeout(timeout, `timeout of step "${id}"`) };
}
