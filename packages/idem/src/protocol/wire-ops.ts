// Ops: what an app reports it found or did (docs/reference/wire.md#ops). Read into our words; fields nobody asked for are left
// behind, for ops from the checkpoint buffer carry the SDK's internals and user data with them.
import { errors } from "../model/errors.ts";
import type { MetadataChange } from "../model/metadata.ts";
import type { StepKind } from "../model/step.ts";
import { keptInput } from "../model/step-input.ts";
import { readError, type SerializedError } from "../model/user-errors.ts";
import { readOpMetadata } from "./wire-metadata.ts";

export interface OpName {
  readonly stepId: string;
  readonly name: string;
  readonly repeat: number;
}

export type WireOp = OpName & {
  readonly race: boolean;
  /** Metadata of its run or of itself; undefined for none. */
  readonly metadata?: readonly MetadataChange[] | undefined;
} & (
    | {
        readonly op: "ran";
        readonly kind: StepKind;
        readonly json: string;
        readonly input: string | null;
        /** By the app's clock; null when it did not say. */
        readonly startedAt: number | null;
      }
    /** `input` is what the step was given, as it is kept; null where the app says of none. */
    | { readonly op: "planned"; readonly kind: StepKind; readonly input: string | null }
    | {
        readonly op: "threw";
        readonly kind: StepKind;
        readonly error: SerializedError;
        readonly isFinal: boolean;
        readonly input: string | null;
        readonly startedAt: number | null;
      }
    | { readonly op: "sleep"; readonly until: string }
    | { readonly op: "wait-for-event"; readonly event: string; readonly timeout: string; readonly if: string | null }
    | {
        readonly op: "wait-for-signal";
        readonly signal: string;
        readonly timeout: string;
        readonly replaces: boolean;
      }
    | {
        readonly op: "invoke";
        readonly function: string;
        readonly data: unknown;
        readonly v: unknown;
        /** As it came: its sessions are looked at when the function is invoked. */
        readonly meta: unknown;
        readonly timeout: string | null;
      }
    | {
        readonly op: "fetch";
        readonly url: string;
        readonly method: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: string | null;
      }
    | {
        readonly op: "infer";
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly authKey: string;
        readonly format: string;
        readonly body: string;
      }
    | { readonly op: "complete"; readonly json: string }
    | { readonly op: "defer"; readonly json: string }
    | { readonly op: "defer-abort"; readonly target: string }
    | { readonly op: "look-again" }
    | { readonly op: "nothing" }
  );

// Enough for the longest plan; more in one answer is a loop in the app.
export const opsMax = 1_000;
/** sha1 of "complete": the id of the op that ends a run. */
export const completeId = "0737c22d3bfae812339732d14d8c7dbd6dc4e09c";
const idChars = /^[0-9A-Za-z:_-]{1,128}$/;
const nameCharsMax = 1_024;

/** Reads a list of ops; throws REPLY_INVALID with what is wrong at which op. */
export function readOps(value: unknown): WireOp[] {
  const list = Array.isArray(value) ? value : [value];
  if (list.length > opsMax + 1) {
    throw errors.REPLY_INVALID({ why: `it holds ${list.length} ops, more than ${opsMax}` });
  }
  return list.map((op, i) => readOp(op, i, list.length));
}

const nothing: Readonly<Record<string, unknown>> = {};

/** Names every field of what apps say of every step (docs/performance.md#objects); the rest is in `readOther`. */
function readOp(value: unknown, i: number, count: number): WireOp {
  if (!isObject(value)) throw errors.REPLY_INVALID({ why: `${whereOf(i, count)} is not an object` });
  const { id, op, opts, data, userland, displayName } = value;
  if (typeof id !== "string" || !idChars.test(id)) {
    throw errors.REPLY_INVALID({ why: `${whereOf(i, count)} has no usable id` });
  }
  const author = isObject(userland) ? userland : nothing;
  const options = isObject(opts) ? opts : nothing;
  const name = clip(textOf(author.id) || textOf(displayName) || textOf(value.name) || id);
  const repeat =
    typeof author.index === "number" && Number.isInteger(author.index) && author.index > 0 ? author.index : 0;
  const race = options.parallelMode === "race";
  const metadata = value.metadata === undefined ? undefined : readOpMetadata(value.metadata, id);
  switch (op) {
    case "StepRun":
    case "Step":
      return {
        stepId: id,
        name,
        repeat,
        race,
        metadata,
        op: "ran",
        kind: kindOf(options.type),
        json: JSON.stringify(data ?? null),
        input: inputOf(options.input),
        startedAt: startedAt(value.timing),
      };
    case "StepPlanned": {
      const input = inputOf(options.input);
      return { stepId: id, name, repeat, race, metadata, op: "planned", kind: kindOf(options.type), input };
    }
    case "RunComplete":
    case "SyncRunComplete":
      return { stepId: id, name, repeat, race, metadata, op: "complete", json: JSON.stringify(data ?? null) };
    default:
      return readOther({ stepId: id, name, repeat, race, metadata }, value, options, whereOf(i, count));
  }
}

type OpBase = Pick<WireOp, "stepId" | "name" | "repeat" | "race" | "metadata">;

function readOther(
  base: OpBase,
  value: Readonly<Record<string, unknown>>,
  options: Readonly<Record<string, unknown>>,
  where: string,
): WireOp {
  const { op, error, name } = value;
  const text = (key: string): string => {
    const found = options[key];
    return typeof found === "string" ? found : found === undefined || found === null ? "" : String(found);
  };
  switch (op) {
    case "StepError":
    case "StepFailed":
      return {
        ...base,
        op: "threw",
        kind: kindOf(options.type),
        error: errorOf(error),
        isFinal: op === "StepFailed",
        input: inputOf(options.input),
        startedAt: startedAt(value.timing),
      };
    case "Sleep":
      return { ...base, op: "sleep", until: text("duration") || (typeof name === "string" ? name : "") };
    case "WaitForEvent": {
      const event = textOf(name) || textOf(options.event);
      if (event === "") throw errors.REPLY_INVALID({ why: `${where} (${base.name}) waits for no event` });
      const condition = text("if");
      return {
        ...base,
        op: "wait-for-event",
        event,
        timeout: text("timeout"),
        if: condition === "" ? null : condition,
      };
    }
    case "WaitForSignal": {
      const signal = textOf(options.signal) || textOf(name);
      if (signal === "") throw errors.REPLY_INVALID({ why: `${where} (${base.name}) waits for no signal` });
      return {
        ...base,
        op: "wait-for-signal",
        signal,
        timeout: text("timeout"),
        replaces: options.conflict === "replace",
      };
    }
    case "InvokeFunction": {
      const payload = isObject(options.payload) ? options.payload : {};
      const fn = text("function_id");
      if (fn === "") throw errors.REPLY_INVALID({ why: `${where} (${base.name}) invokes no function` });
      return {
        ...base,
        op: "invoke",
        function: fn,
        data: payload.data ?? {},
        v: payload.v,
        meta: payload.meta ?? null,
        timeout: text("timeout") || null,
      };
    }
    case "Gateway":
      return {
        ...base,
        op: "fetch",
        url: text("url"),
        method: (text("method") || "GET").toUpperCase(),
        headers: headersOf(options.headers),
        body: typeof options.body === "string" && options.body !== "" ? options.body : null,
      };
    case "AIGateway":
      return {
        ...base,
        op: "infer",
        url: text("url"),
        headers: headersOf(options.headers),
        authKey: text("auth_key"),
        format: text("format"),
        body: typeof options.body === "string" ? options.body : JSON.stringify(options.body ?? {}),
      };
    case "DeferAdd":
      return {
        ...base,
        op: "defer",
        json: JSON.stringify({ function: text("fn_slug"), input: options.input ?? {}, meta: options.meta ?? null }),
      };
    case "DeferAbort":
      return { ...base, op: "defer-abort", target: text("target_hashed_id") };
    case "DiscoveryRequest":
      return { ...base, op: "look-again" };
    case "None":
      return { ...base, op: "nothing" };
    default:
      throw errors.REPLY_INVALID({ why: `${where} is "${String(op).slice(0, 40)}", which is not known` });
  }
}

/** `timing.a` is nanoseconds since 1970; milliseconds are what a double holds of it. */
function startedAt(timing: unknown): number | null {
  const at = isObject(timing) ? timing.a : undefined;
  return typeof at === "number" && Number.isFinite(at) && at > 0 ? Math.floor(at / 1e6) : null;
}

/** A list of arguments, as SDKs send it; Idem's own also says what other tools were asked for, or why there is nothing to show. */
function inputOf(value: unknown): string | null {
  if (value === undefined || value === null || typeof value === "boolean") return null;
  return Array.isArray(value) && value.length === 0 ? null : keptInput(JSON.stringify(value));
}

/** The SDK's name for a tool, as far as it says so. */
function kindOf(type: unknown): StepKind {
  if (type === "step.sendEvent") return "send-event";
  if (type === "step.sendSignal") return "send-signal";
  if (type === "step.fetch") return "fetch";
  if (type === "step.diverged") return "diverged";
  return "run";
}

export function errorOf(value: unknown): SerializedError {
  if (!isObject(value))
    return { name: "Error", message: typeof value === "string" ? clip(value) : "no reason was given" };
  // Through the reader of stored errors, which drops nothing but what it does not know how to say.
  const { __serialized: _, ...rest } = value;
  const read = readError(JSON.stringify(rest));
  return read.message === "" && typeof value.error === "string" ? { ...read, message: value.error } : read;
}

function headersOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => typeof each === "string" || typeof each === "number")
      .map(([key, each]) => [key.toLowerCase(), String(each)]),
  );
}

const whereOf = (i: number, count: number): string => `op ${i + 1} of ${count}`;

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const clip = (text: string): string => (text.length <= nameCharsMax ? text : text.slice(0, nameCharsMax));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Of all of them, in their order. */
export const metadataOf = (ops: readonly WireOp[]): readonly MetadataChange[] =>
  ops.every(({ metadata }) => metadata === undefined)
    ? noChanges
    : ops.flatMap(({ metadata }) => metadata ?? noChanges);

const noChanges: readonly MetadataChange[] = [];
