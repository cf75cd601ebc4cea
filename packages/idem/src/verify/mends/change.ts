// A change to a function that would make a finding go away, in the form in which a world plays it: the code stays as it is, and the effect of
// the change is supplied. Plain data.
import type { FunctionConfig } from "../../model/function-config.ts";
import { readIdempotency } from "../../model/function-options.ts";

/** Which calls: those from this line of the user's; where that is unknown, those of this name. */
export interface CallsAt {
  readonly file: string | null;
  readonly line: number;
  readonly title: string;
}

/** Its config with this key, for as long as its key had, or for the default. */
export function withFunctionKey(config: FunctionConfig, expression: string): FunctionConfig {
  const { unkeyed: _, ...rest } = config;
  const before = config.idempotency ?? readIdempotency(expression).idempotency!;
  return { ...rest, idempotency: { ...before, key: expression } };
}

export type Change =
  | {
      /** The call is given a key, or is looked up before it is sent again (`step.effect`); in the step it is in, or in one of its own. */
      readonly kind: "effect";
      readonly calls: CallsAt;
      readonly step: "same" | "own";
      readonly by: "key" | "look-up";
    }
  /** The function has this key. */
  | { readonly kind: "function-key"; readonly expression: string }
  /** Work that a step began is awaited in it, and the step throws where it was refused or its answer was lost. */
  | { readonly kind: "awaited" }
  /** Outside steps the code sees the time, or the chance, of the first time it came there: it was drawn in a step. */
  | { readonly kind: "drawn-in-step"; readonly what: "clock" | "chance" };

export const isOneOf = (
  { file, line, title }: CallsAt,
  call: { readonly title: string; readonly place: { readonly file: string; readonly line: number } | null },
): boolean =>
  file === null || call.place === null ? title === call.title : file === call.place.file && line === call.place.line;
