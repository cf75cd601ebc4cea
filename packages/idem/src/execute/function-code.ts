// The author's side of a function: code and the options that cannot be written down as JSON.
import type { FunctionConfig } from "../model/function-config.ts";
import type { Remote } from "./remote.ts";
import type { Backoff } from "./retry.ts";
import type { StepTools } from "./step-tools.ts";

/** Hooks around runs, steps and sends. Each may be async; a hook that throws fails what it surrounds. */
export interface Middleware {
  readonly name?: string;
  /** May add to or replace what the handler receives. */
  transformInput?(input: HandlerInput): HandlerInput | Promise<HandlerInput>;
  beforeRun?(run: RunInfo): void | Promise<void>;
  afterRun?(run: RunInfo, result: { ok: true; value: unknown } | { ok: false; error: unknown }): void | Promise<void>;
  beforeStep?(run: RunInfo, step: StepInfo): void | Promise<void>;
  afterStep?(
    run: RunInfo,
    step: StepInfo,
    result: { ok: true; value: unknown } | { ok: false; error: unknown },
  ): void | Promise<void>;
  /** May replace the events about to be sent. */
  onSend?(events: readonly unknown[]): readonly unknown[] | Promise<readonly unknown[]>;
}

export interface RunInfo {
  readonly runId: string;
  readonly function: string;
  readonly attempt: number;
}

export interface StepInfo {
  readonly id: string;
  readonly attempt: number;
}

export interface HandlerInput {
  readonly event: unknown;
  readonly events: readonly unknown[];
  readonly step: StepTools;
  readonly runId: string;
  readonly attempt: number;
  /** Entries into the code in a row, this one included, since it last came to an outcome. */
  readonly entered: number;
  readonly maxAttempts: number;
  readonly logger: Logger;
  readonly error?: Error;
  readonly [extra: string]: unknown;
}

export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

interface CodeBase {
  readonly fn: string;
  readonly config: FunctionConfig;
  readonly backoff: Backoff | null;
  readonly middleware: readonly Middleware[];
}

/** A function whose code is reached over a wire. */
export interface RemoteCode extends CodeBase {
  readonly remote: Remote;
}

/** Whatever a worker can execute. */
export type Code = FunctionCode | RemoteCode;

/** A function whose code is in this process. */
export interface FunctionCode extends CodeBase {
  readonly handler: (input: HandlerInput) => unknown;
  /** Set on the companion that handles another function's failed or cancelled runs: it receives why as `error`. */
  readonly handlesEnd: boolean;
}
