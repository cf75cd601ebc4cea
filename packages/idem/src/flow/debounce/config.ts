// One run for the last of many events, once no more come.
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf, readKey, readPeriod, sevenDays } from "../read-option.ts";

export interface DebounceOptions {
  /** Time without a further event: "1s" to "7d". */
  readonly period: string | number;
  /** The longest an event is held back, however many follow. */
  readonly timeout?: string | number;
  /** CEL over `event`: each value is waited for by itself. */
  readonly key?: string;
}

export interface DebounceConfig {
  readonly periodMs: number;
  readonly timeoutMs: number | null;
  readonly key: string | null;
}

export const debounce: FlowOption<DebounceConfig> = {
  written: "debounce",
  gathers: true,
  byOneEvent: true,
  read(value) {
    const option = "debounce";
    const { period, timeout, key } = fieldsOf(value, option, ["period", "timeout", "key"]);
    const periodMs = readPeriod(period, "debounce.period", sevenDays);
    const timeoutMs = timeout === undefined ? null : readPeriod(timeout, "debounce.timeout", sevenDays);
    if (timeoutMs !== null && timeoutMs < periodMs) {
      const why = "it must be at least as long as debounce.period, or no silence is ever waited for";
      throw errors.OPTION_INVALID({ option: "debounce.timeout", why });
    }
    return { periodMs, timeoutMs, key: readKey(key, option) };
  },
  refuseUnknown: (where, value) =>
    refuseUnknown<DebounceOptions>(where, value, { period: true, timeout: true, key: true }),
};
