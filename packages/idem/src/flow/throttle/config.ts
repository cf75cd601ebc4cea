// Spaces the starts of runs; those too early wait in line.
import { isJsonObject } from "../../model/json.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf, readCount, readKey, readPeriod, sevenDays } from "../read-option.ts";

export interface ThrottleOptions {
  /** Starts in a period, evenly spaced. */
  readonly limit: number;
  /** "1s" to "7d". */
  readonly period: string | number;
  /** Starts allowed at once: 1 by default. */
  readonly burst?: number;
  /** CEL over `event`: spaced apart for each value. */
  readonly key?: string;
}

export interface ThrottleConfig {
  readonly limit: number;
  readonly periodMs: number;
  readonly burst: number;
  readonly key: string | null;
}

export const throttle: FlowOption<ThrottleConfig> = {
  written: "throttle",
  read(value) {
    const option = "throttle";
    const { limit, period, burst = 1, key } = fieldsOf(value, option, ["limit", "period", "burst", "key"]);
    return {
      limit: readCount(limit, "throttle.limit", 1),
      periodMs: readPeriod(period, "throttle.period", sevenDays),
      burst: readCount(burst, "throttle.burst", 1),
      key: readKey(key, option),
    };
  },
  refuseUnknown: (where, value) =>
    refuseUnknown<ThrottleOptions>(where, value, { limit: true, period: true, burst: true, key: true }),
  /** SDKs of other languages write 0 for what is not there. */
  fromWire: (value) => (isJsonObject(value) && value.burst === 0 ? { ...value, burst: undefined } : value),
};
