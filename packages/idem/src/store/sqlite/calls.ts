// A call of an operation and its answer, as they go between a store's shell and its core: all that an application's own thread knows of SQLite.
import { errors, IdemError } from "../../model/errors.ts";
import type { StoreWrites } from "../store.ts";

export interface Call {
  readonly name: keyof StoreWrites;
  readonly input: readonly unknown[];
}

export type CallAnswer =
  | { readonly ok: true; readonly value: unknown }
  | {
      readonly ok: false;
      readonly code: IdemError["code"] | null;
      readonly facts: Record<string, unknown>;
      readonly message: string;
    };

export const succeed = (value: unknown): CallAnswer => ({ ok: true, value });

export const fail = (error: unknown): CallAnswer =>
  error instanceof IdemError
    ? { ok: false, code: error.code, facts: error.facts, message: error.message }
    : { ok: false, code: null, facts: {}, message: error instanceof Error ? error.message : String(error) };

/** The result of running it, whichever it is. */
export function answerOf(run: () => unknown): CallAnswer {
  try {
    return succeed(run());
  } catch (error) {
    return fail(error);
  }
}

export function readAnswer(answer: CallAnswer): unknown {
  if (answer.ok) return answer.value;
  if (answer.code !== null) throw new IdemError(answer.code, answer.facts);
  throw errors.STORE_UNAVAILABLE({ why: answer.message });
}
