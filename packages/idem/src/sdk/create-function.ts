// Both ways to write a function: createFunction(options, trigger, handler) as in the seeds, and
// createFunction({ ...options, triggers }, handler) as in SDK v4. What is wrong is said here, at definition.

import type { FunctionCode, Middleware } from "../execute/function-code.ts";
import type { Backoff } from "../execute/retry.ts";
import { readFlow } from "../flow/options.ts";
import { keepDataSchemas } from "../model/data-schemas.ts";
import { errors, IdemError } from "../model/errors.ts";
import { type FormerIds, readFormerIds } from "../model/former-ids.ts";
import { type EventTrigger, type FunctionConfig, functionSlug } from "../model/function-config.ts";
import { type AppNames, allNames, namesOf, recordedApp } from "../model/function-names.ts";
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

/** Common to all functions of a client. */
interface OfClient {
  /** The names its app had before. */
  readonly appWas?: FormerIds | null;
  readonly middleware?: readonly Middleware[];
  readonly schemas?: EventSchemas;
  readonly warn?: (message: string) => void;
}

/** The code for the function and, where it has `onFailure` or `onCancel`, for the companions that run when it ended so. */
export function defineFunction(
  appId: string,
  options: FunctionOptions,
  triggers: readonly TriggerInput[],
  handler: unknown,
  { middleware = [], schemas = {}, warn = () => {}, appWas = null }: OfClient = {},
): FunctionCode[] {
  const id = options?.id;
  const wrong = (why: string, cause?: unknown) =>
    errors.FUNCTION_INVALID(
      { function: typeof id === "string" ? id.slice(0, 128) : typeof id, why },
      cause === undefined ? undefined : { cause },
    );
  if (typeof id !== "string" || !idPattern.test(id)) throw wrong(`its id must be ${idWords}`);
  if (typeof handler !== "function") throw wrong("it has no handler");
  try {
    refuseUnknownFunctionOptions(options, triggers, warn);
    const starts = readTriggers(triggers);
    const app: AppNames = { id: appId, was: appWas };
    const was = readFormerIds(id, options.was, wrong);
    for (const former of was ?? []) if (!idPattern.test(former)) throw wrong(`each of \`was\` must be ${idWords}`);
    const names = namesOf(app, id, was);
    const config: FunctionConfig = {
      id,
      ...names,
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
      fn: names.was?.[0] ?? functionSlug(appId, id),
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
      ...(onFailure === null
        ? []
        : [endHandler(app, code, was, "failure", onFailure, failureTriggers(isOf(app, code), code))]),
      ...(onCancel === null
        ? []
        : [endHandler(app, code, was, "cancel", onCancel, cancelTriggers(isOf(app, code), code, onFailure !== null))]),
    ];
  } catch (error) {
    if (error instanceof IdemError && !["FUNCTION_INVALID", "OPTION_UNKNOWN"].includes(error.code))
      throw wrong(error.message, error);
    throw error;
  }
}

const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const idWords = "1 to 128 letters, digits, dots, dashes or underscores";

/** Which end starts which handler: the table is in docs/states.md. A server that does not know of former names says the one of today. */
function isOf(app: AppNames, { fn, config }: FunctionCode): string {
  const names = allNames({ fn, app: recordedApp(app), config }).map((name) => `event.data.function_id == '${name}'`);
  return names.length === 1 ? names[0]! : `(${names.join(" || ")})`;
}
const isFinishTimeout = `has(event.data.error.code) && event.data.error.code == 'RUN_TIMED_OUT'`;

function failureTriggers(isOf: string, of: FunctionCode): EventTrigger[] {
  const failed = { event: "inngest/function.failed", if: isOf };
  if (of.config.finishTimeoutMs === null) return [failed];
  return [failed, { event: "inngest/function.cancelled", if: `${isOf} && ${isFinishTimeout}` }];
}

function cancelTriggers(isOf: string, of: FunctionCode, hasOnFailure: boolean): EventTrigger[] {
  const leavesTimeouts = hasOnFailure && of.config.finishTimeoutMs !== null;
  return [{ event: "inngest/function.cancelled", if: leavesTimeouts ? `${isOf} && !(${isFinishTimeout})` : isOf }];
}

function endHandler(
  app: AppNames,
  of: FunctionCode,
  was: FormerIds | null,
  end: "failure" | "cancel",
  handler: FunctionCode["handler"],
  triggers: readonly EventTrigger[],
): FunctionCode {
  const id = `${of.config.id}-${end}`;
  const names = namesOf(
    app,
    id,
    was === null ? null : (was.map((former) => `${former}-${end}`) as [string, ...string[]]),
  );
  return {
    ...of,
    fn: names.was?.[0] ?? functionSlug(app.id, id),
    handler,
    handlesEnd: true,
    config: {
      id,
      ...names,
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
