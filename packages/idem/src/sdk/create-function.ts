// Both ways to write a function: createFunction(options, trigger, handler) as in the seeds, and
// createFunction({ ...options, triggers }, handler) as in SDK v4. What is wrong is said here, at definition.

import type { FunctionCode, Middleware } from "../execute/function-code.ts";
import type { Backoff } from "../execute/retry.ts";
import { readFlow } from "../flow/options.ts";
import { keepDataSchemas } from "../model/data-schemas.ts";
import { errors, IdemError } from "../model/errors.ts";
import { type EventTrigger, type FunctionConfig, functionSlug } from "../model/function-config.ts";
import {
  readEntries,
  readIdempotency,
  readName,
  readOnDiverged,
  readRetries,
  readTimeouts,
  readTriggers,
} from "../model/function-options.ts";
import { dataSchemaOf } from "./data-schema.ts";
import type { EventSchemas } from "./event-types.ts";
import type { FunctionOptions, TriggerInput } from "./function-types.ts";
import { refuseUnknownFunctionOptions } from "./known-function-options.ts";

/** What every function of a client has. */
interface OfClient {
  readonly middleware?: readonly Middleware[];
  readonly schemas?: EventSchemas;
  readonly warn?: (message: string) => void;
}

/** The code for the function and, where it has `onFailure` or `onCancel`, for the companions that run when it ended so. */
export function defineFunction(
  app: string,
  options: FunctionOptions,
  triggers: readonly TriggerInput[],
  handler: unknown,
  { middleware = [], schemas = {}, warn = () => {} }: OfClient = {},
): FunctionCode[] {
  const id = options?.id;
  const wrong = (why: string, cause?: unknown) =>
    errors.FUNCTION_INVALID(
      { function: typeof id === "string" ? id.slice(0, 128) : typeof id, why },
      cause === undefined ? undefined : { cause },
    );
  if (typeof id !== "string" || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(id)) {
    throw wrong("its id must be 1 to 128 letters, digits, dots, dashes or underscores");
  }
  if (typeof handler !== "function") throw wrong("it has no handler");
  try {
    refuseUnknownFunctionOptions(options, triggers, warn);
    const starts = readTriggers(triggers);
    const config: FunctionConfig = {
      id,
      name: readName(options.name) ?? id,
      triggers: starts,
      retries: readRetries(options.retries),
      ...readIdempotency(options.idempotency),
      ...readTimeouts(options.timeouts),
      ...readEntries(options.entries),
      ...readOnDiverged(options.onDiverged),
      ...readFlow(options, { triggers: starts }),
      ...keepDataSchemas(
        starts,
        Object.keys(schemas).filter((name) => name !== "*"),
        (name) => dataSchemaOf(schemas[name]),
      ),
    };
    const code = {
      fn: functionSlug(app, id),
      config,
      handler: handler as FunctionCode["handler"],
      backoff: readFunction<Backoff>(options.backoff, "backoff"),
      middleware: [...middleware, ...readMiddleware(options.middleware)],
      handlesEnd: false,
    };
    const onFailure = readFunction<FunctionCode["handler"]>(options.onFailure, "onFailure");
    const onCancel = readFunction<FunctionCode["handler"]>(options.onCancel, "onCancel");
    return [
      code,
      ...(onFailure === null ? [] : [endHandler(app, code, "failure", onFailure, failureTriggers(code))]),
      ...(onCancel === null
        ? []
        : [endHandler(app, code, "cancel", onCancel, cancelTriggers(code, onFailure !== null))]),
    ];
  } catch (error) {
    if (error instanceof IdemError && !["FUNCTION_INVALID", "OPTION_UNKNOWN"].includes(error.code))
      throw wrong(error.message, error);
    throw error;
  }
}

// Which end is told to which handler: the table is in docs/states.md.
const isOf = ({ fn }: FunctionCode): string => `event.data.function_id == '${fn}'`;
const isFinishTimeout = `has(event.data.error.code) && event.data.error.code == 'RUN_TIMED_OUT'`;

function failureTriggers(of: FunctionCode): EventTrigger[] {
  const failed = { event: "inngest/function.failed", if: isOf(of) };
  if (of.config.finishTimeoutMs === null) return [failed];
  return [failed, { event: "inngest/function.cancelled", if: `${isOf(of)} && ${isFinishTimeout}` }];
}

function cancelTriggers(of: FunctionCode, hasOnFailure: boolean): EventTrigger[] {
  const leavesTimeouts = hasOnFailure && of.config.finishTimeoutMs !== null;
  return [
    { event: "inngest/function.cancelled", if: leavesTimeouts ? `${isOf(of)} && !(${isFinishTimeout})` : isOf(of) },
  ];
}

function endHandler(
  app: string,
  of: FunctionCode,
  end: "failure" | "cancel",
  handler: FunctionCode["handler"],
  triggers: readonly EventTrigger[],
): FunctionCode {
  const id = `${of.config.id}-${end}`;
  return {
    ...of,
    fn: functionSlug(app, id),
    handler,
    handlesEnd: true,
    config: {
      id,
      name: `${of.config.name} (${end})`,
      triggers,
      retries: 1,
      idempotency: null,
      startTimeoutMs: null,
      finishTimeoutMs: null,
    },
  };
}

function readFunction<F>(value: unknown, option: string): F | null {
  if (value === undefined) return null;
  if (typeof value !== "function") throw errors.OPTION_INVALID({ option, why: "it must be a function" });
  return value as F;
}

function readMiddleware(value: unknown): readonly Middleware[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.some((each) => typeof each !== "object" || each === null)) {
    throw errors.OPTION_INVALID({ option: "middleware", why: "it must be a list of objects with hooks" });
  }
  return value;
}
