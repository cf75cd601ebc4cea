// Starts no more runs than this; events beyond are kept, with a decision that says so.
import { refuseUnknown } from "../../model/known-options.ts";
import { dayMs } from "../../model/window.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf, readCount, readKey, readPeriod } from "../read-option.ts";

export interface RateLimitOptions {
  /** Most in any stretch of time of this length. */
  readonly limit: number;
  /** "1s" to "24h". */
  readonly period: string | number;
  /** CEL over `event`: one limit for each value. */
  readonly key?: string;
}

export interface RateLimitConfig {
  readonly limit: number;
  readonly periodMs: number;
  readonly key: string | null;
}

export const rateLimit: FlowOption<RateLimitConfig> = {
  written: "rateLimit",
  read(value) {
    const option = "rateLimit";
    const { limit, period, key } = fieldsOf(value, option, ["limit", "period", "key"]);
    return {
      limit: readCount(limit, "rateLimit.limit", 1),
      periodMs: readPeriod(period, "rateLimit.period", { ms: dayMs, name: "24 hours" }),
      key: readKey(key, option),
    };
  },
  refuseUnknown: (where, value) =>
    refuseUnknown<RateLimitOptions>(where, value, { limit: true, period: true, key: true }),
  /** Where both are given, the key is the limit. Idem's own SDK writes a key that holds beside one as an object. */
  fromWire: (value, { idempotency }) => (typeof idempotency === "string" ? undefined : value),
};
