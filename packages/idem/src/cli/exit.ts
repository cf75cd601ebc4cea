// Exit codes of commands. They are part of the interface: docs/cli.md lists them.
import { type ErrorCode, IdemError } from "../model/errors.ts";

export const exitCodes = {
  ok: 0,
  /** The thing asked for failed, or the doctor found problems. */
  failed: 1,
  usage: 2,
  store: 3,
} as const;

export const exitCodeList: readonly (readonly [number, string])[] = [
  [exitCodes.ok, "done"],
  [exitCodes.failed, "the thing asked for failed or does not exist, or the doctor found problems"],
  [exitCodes.usage, "the command was not used as its help says; nothing was done"],
  [exitCodes.store, "the store cannot be used: not found, owned by a process that cannot be reached, newer, or broken"],
];

/** A command gives up. The message says what happened and what to do next. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  constructor(
    readonly exitCode: number,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

export const usage = (message: string): Refusal => new Refusal(exitCodes.usage, message);
export const failed = (message: string): Refusal => new Refusal(exitCodes.failed, message);
export const unusable = (message: string, cause?: unknown): Refusal => new Refusal(exitCodes.store, message, { cause });

/** Of an error of Idem's own, wherever it was raised. */
export function exitCodeOfCode(code: ErrorCode): number {
  if (code.startsWith("STORE_")) return exitCodes.store;
  return /_(UNKNOWN|TAKEN|NOT_WAITING|NOT_OPEN)$/.test(code) ? exitCodes.failed : exitCodes.usage;
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof Refusal) return error.exitCode;
  if (error instanceof IdemError) return exitCodeOfCode(error.code);
  return String((error as { code?: unknown }).code).startsWith("SQLITE_") ? exitCodes.store : exitCodes.failed;
}
