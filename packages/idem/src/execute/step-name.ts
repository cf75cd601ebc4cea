// A step's name in user code: a text, or an object that also has the step's former ids and its time limit.
import { errors } from "../model/errors.ts";
import { type FormerIds, readFormerIds } from "../model/former-ids.ts";
import { readTimeout } from "../model/function-options.ts";
import { type Foreign, refuseUnknown } from "../model/known-options.ts";

/** A step's id with what else is said of it (`{ id, name }` as in SDK v4). */
export interface StepOptions {
  /** The name it is found by on every replay. */
  readonly id: string;
  /** For people; nothing is found by it. */
  readonly name?: string;
  /**
   * The id this step had before it was renamed. In every run it goes on being recorded under that id, with that id's wait and destination key: what
   * was done as "charge" is not done again as "charge-card". Of several, the first it ever had comes first. It comes in the deployment that
   * renames, and stays.
   *
   * @example step.run({ id: "charge-card", was: "charge" }, ({ key }) => pay(key))
   */
  readonly was?: string | FormerIds;
}

/** The same for a step that runs code. */
export interface LimitedStepOptions extends StepOptions {
  /** The longest an attempt may take: "30s", or milliseconds. */
  readonly timeout?: string | number;
}

/** A step's id, or an object that has one. */
export type StepIdInput = string | StepOptions;

/** The same for a step that runs code: in `{ id, timeout }` the longest an attempt may take, "30s" or milliseconds. */
export type LimitedIdInput = string | LimitedStepOptions;

/** A step as its code asks for it. */
export interface AskedStep {
  readonly step: string;
  /** Ids it may be recorded under, the first it ever had first; null for its own alone. */
  readonly was: FormerIds | null;
}

export interface LimitedId {
  readonly asked: AskedStep;
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
  // As most steps are named.
  if (typeof input === "string" && input !== "")
    return { asked: { step: input, was: null }, step: input, limitMs: null };
  const { id, was, timeout }: Partial<LimitedStepOptions> = typeof input === "string" ? { id: input } : { ...input };
  if (typeof id !== "string" || id === "") {
    throw errors.STEP_INVALID({ step: String(id), why: "its id must be a non-empty string" });
  }
  refuseUnknown<LimitedStepOptions>(
    `step "${id}"`,
    input,
    { id: true, name: true, was: true, timeout: true },
    { options: foreignOptions, warn },
  );
  const asked = { step: id, was: readFormerIds(id, was, (why) => errors.STEP_INVALID({ step: id, why })) };
  return { asked, step: id, limitMs: readTimeout(timeout, `timeout of step "${id}"`) };
}
