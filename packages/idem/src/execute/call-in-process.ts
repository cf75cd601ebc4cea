// Reaches user code that lives in this process. The code keeps going after each recorded step; it is entered again only
// after it had to wait.
import type { FunctionCode, HandlerInput, Logger, RunInfo } from "./function-code.ts";
import { loggerOfRun } from "./log-style.ts";
import type { Pass } from "./pass.ts";
import type { RunCall } from "./run-call.ts";
import { makeStepTools } from "./step-tools.ts";

/** Tells a person what no code hears of. */
type Warn = (message: string) => void;

/** To be awaited: what the code gives back, or throws at once. */
export function callInProcess(call: RunCall, code: FunctionCode, warn: Warn, logger: Logger): unknown {
  if (code.middleware.length > 0) return throughMiddleware(call, code, warn, logger);
  return enter(call, code, inputOf(call, code, warn, logger));
}

async function throughMiddleware(call: RunCall, code: FunctionCode, warn: Warn, logger: Logger): Promise<unknown> {
  const info = infoOf(call, code);
  for (const middleware of code.middleware) await middleware.beforeRun?.(info);
  let input = inputOf(call, code, warn, logger);
  for (const middleware of code.middleware) input = (await middleware.transformInput?.(input)) ?? input;
  return enter(call, code, input);
}

function enter({ ports }: RunCall, code: FunctionCode, input: HandlerInput): unknown {
  return ports.trace === undefined ? code.handler(input) : ports.trace.within(() => code.handler(input));
}

const infoOf = ({ runId, attempt }: RunCall, { config }: FunctionCode): RunInfo => ({
  runId,
  function: config.id,
  attempt,
});

function inputOf(call: RunCall, code: FunctionCode, warn: Warn, logger: Logger): HandlerInput {
  const { pass, event } = call;
  const input = {
    event,
    events: call.events,
    step: makeStepTools(call, warnOnceOf(code, warn)),
    runId: call.runId,
    attempt: call.attempt,
    entered: pass.entered,
    maxAttempts: call.maxAttempts,
    logger: saidOnce(
      loggerOfRun(logger, () => ({ ...infoOf(call, code) })),
      pass,
      call.attempt,
    ),
  };
  return code.handlesEnd ? { ...input, error: failureOf(event) } : input;
}

const told = new WeakMap<object, Set<string>>();

/** What is wrong with the code is the same in every run of it. */
function warnOnceOf({ handler }: FunctionCode, warn: Warn): Warn {
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
