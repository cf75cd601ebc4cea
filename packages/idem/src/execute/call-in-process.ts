// Reaches user code that lives in this process. The code keeps going after each recorded step; it is entered again only
// after it had to wait.
import type { DestinationOf } from "../dedup/destination-key.ts";
import type { FunctionCode, HandlerInput, Logger, RunInfo } from "./function-code.ts";
import { loggerOfRun } from "./log-style.ts";
import type { Pass } from "./pass.ts";
import type { RunPorts } from "./ports.ts";
import { makeStepTools, type StepToolsOf } from "./step-tools.ts";

export interface InProcessCall {
  readonly code: FunctionCode;
  readonly pass: Pass;
  readonly ports: RunPorts;
  readonly destination: DestinationOf;
  readonly logger: Logger;
  readonly limits: StepToolsOf["limits"];
  readonly runId: string;
  readonly event: Record<string, unknown>;
  readonly events: readonly Record<string, unknown>[];
  readonly inputs: Readonly<Record<string, string>>;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Tells a person what no code hears of. */
  readonly warn: (message: string) => void;
}

/** To be awaited: what the code gives back, or throws at once. */
export function callInProcess(call: InProcessCall): unknown {
  const { code } = call;
  const info = { runId: call.runId, function: code.config.id, attempt: call.attempt };
  return code.middleware.length === 0 ? enter(call, inputOf(call, info)) : throughMiddleware(call, info);
}

async function throughMiddleware(call: InProcessCall, info: RunInfo): Promise<unknown> {
  const { code } = call;
  for (const middleware of code.middleware) await middleware.beforeRun?.(info);
  let input = inputOf(call, info);
  for (const middleware of code.middleware) input = (await middleware.transformInput?.(input)) ?? input;
  return enter(call, input);
}

function enter({ code, ports }: InProcessCall, input: HandlerInput): unknown {
  return ports.trace === undefined ? code.handler(input) : ports.trace.within(() => code.handler(input));
}

function inputOf(call: InProcessCall, info: RunInfo): HandlerInput {
  const { code, pass, event } = call;
  return {
    event,
    events: call.events,
    step: makeStepTools({ ...call, run: call.destination, warnOnce: warnOnceOf(code, call.warn) }),
    runId: call.runId,
    attempt: call.attempt,
    entered: pass.entered,
    maxAttempts: call.maxAttempts,
    logger: saidOnce(loggerOfRun(call.logger, { ...info }), pass, call.attempt),
    ...(code.handlesEnd ? { error: failureOf(event) } : {}),
  };
}

const told = new WeakMap<object, Set<string>>();

/** What is wrong with the code is the same in every run of it. */
function warnOnceOf({ handler }: FunctionCode, warn: (message: string) => void): (message: string) => void {
  return (message) => {
    const before = told.get(handler) ?? new Set();
    told.set(handler, before);
    if (before.has(message)) return;
    before.add(message);
    warn(message);
  };
}

/** Says each thing once, and keeps it: what an earlier pass already logged is not logged again while the code repeats itself. */
function saidOnce(logger: () => Logger, pass: Pass, attempt: number): Logger {
  const only =
    (level: keyof Logger) =>
    (...args: unknown[]) => {
      if (pass.log(level, args, attempt)) logger()[level](...args);
    };
  return { debug: only("debug"), info: only("info"), warn: only("warn"), error: only("error") };
}

function failureOf(event: Record<string, unknown>): Error {
  const failure = ((event.data as Record<string, unknown>)?.error ?? {}) as Record<string, unknown>;
  const error = new Error(String(failure.message ?? "the function failed"));
  error.name = String(failure.name ?? "Error");
  if (typeof failure.code === "string") Object.assign(error, { code: failure.code });
  if (typeof failure.stack === "string") error.stack = failure.stack;
  return error;
}
