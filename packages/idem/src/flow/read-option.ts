// Readers the options share: counts, periods, keys. A value that cannot hold is refused with the option's path: a limit that is
// ignored in silence is worse than none.
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";
import { readExpression } from "../model/function-options.ts";
import { isJsonObject } from "../model/json.ts";
import { dayMs } from "../model/window.ts";

export const sevenDays = { ms: 7 * dayMs, name: "7 days" };

export function readPeriod(
  value: unknown,
  option: string,
  longest: { readonly ms: number; readonly name: string },
): number {
  const why = `it must be 1 second to ${longest.name}, such as "10s" or "1h30m"`;
  if (value === undefined) throw errors.OPTION_INVALID({ option, why: `it is missing; ${why}` });
  const ms = parseDuration(value as string | number, option);
  if (ms < 1_000 || ms > longest.ms) throw errors.OPTION_INVALID({ option, why });
  return ms;
}

export function readCount(value: unknown, option: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  throw errors.OPTION_INVALID({ option, why: `it must be a whole number ${range}` });
}

export const readKey = (value: unknown, option: string): string | null =>
  value === undefined ? null : readExpression(value, `${option}.key`);

export function fieldsOf<Name extends string>(
  value: unknown,
  option: string,
  known: readonly Name[],
): { readonly [N in Name]?: unknown } {
  if (!isJsonObject(value)) throw errors.OPTION_INVALID({ option, why: `it must be an object of ${known.join(", ")}` });
  return value as { readonly [N in Name]?: unknown };
}
