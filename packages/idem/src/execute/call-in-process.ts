// Reaches user code that lives in this process. The code keeps going after each recorded step; it is entered again only
// after it had to wait.
import type { FunctionCode, HandlerInput, Logger, RunInfo } from "./function-code.ts";
import { loggerOfRun } from "./log-style.ts";
import type { Pass } from "./pass.ts";
import type { RunCall } from "./run-call.ts";
import { makeStepTools, type StepTools } from "./step-tools.ts";

/** Tells a person what no code hears of. */
interface Teller {
  warn(message: string): void;
}

/** To be awaited: what the code gives back, or throws at once. */
export function callInProcess(call: RunCall, code: FunctionCode, teller: Teller, logger: Logger): unknown {
  if (code.middleware.length > 0) return throughMiddleware(call, code, teller, logger);
  return enter(call, code, inputOf(call, code, teller, logger));
}

async function throughMiddleware(call: RunCall, code: FunctionCode, teller: Teller, logger: Logger): Promise<unknown> {
  const info = infoOf(call, code);
  for (const middleware of code.middleware) await middleware.beforeRun?.(info);
  let input = inputOf(call, code, teller, logger);
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

function inputOf(call: RunCall, code: FunctionCode, teller: Teller, logger: Logger): HandlerInput {
  const input = new Input(call, code, teller, logger);
  return code.handlesEnd ? { ...input, error: failureOf(call.event) } : input;
}

/**
 * Most code has nothing to say to the logger: its four functions are made for that which does. It is the object's own, so that a copy has it, and
 * what reads it is the same for all (docs/performance.md#objects).
 */
class Input implements HandlerInput {
  readonly event: unknown;
  readonly events: readonly unknown[];
  readonly step: StepTools;
  readonly runId: string;
  readonly attempt: number;
  readonly entered: number;
  readonly maxAttempts: number;
  declare readonly logger: Logger;
  readonly #call: RunCall;
  readonly #code: FunctionCode;
  readonly #given: Logger;
  #logger: Logger | null = null;
  readonly [extra: string]: unknown;

  constructor(call: RunCall, code: FunctionCode, teller: Teller, given: Logger) {
    this.event = call.event;
    this.events = call.events;
    this.step = makeStepTools(call, warnOnceOf(code, teller));
    this.runId = call.runId;
    this.attempt = call.attempt;
    this.entered = call.pass.entered;
    this.maxAttempts = call.maxAttempts;
    this.#call = call;
    this.#code = code;
    this.#given = given;
    Object.defineProperty(this, "logger", Input.#lazy);
  }

  static readonly #lazy: PropertyDescriptor & ThisType<Input> = {
    enumerable: true,
    configurable: true,
    get() {
      const call = this.#call;
      this.#logger ??= saidOnce(
        loggerOfRun(this.#given, () => ({ ...infoOf(call, this.#code) })),
        call.pass,
        call.attempt,
      );
      return this.#logger;
    },
    /** Middleware may put its own in its place. */
    set(logger: Logger) {
      this.#logger = logger;
    },
  };
}

const told = new WeakMap<object, Set<string>>();

/** A fault in the code is the same in every run of it: said once. */
function warnOnceOf({ handler }: FunctionCode, teller: Teller): Teller["warn"] {
  return (message) => {
    const before = told.get(handler) ?? new Set();
    told.set(handler, before);
    if (before.has(message)) return;
    before.add(message);
    teller.warn(message);
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
