// One run for many events.
import { errors } from "../../model/errors.ts";
import { readExpression } from "../../model/function-options.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf, readCount, readKey, readPeriod, sevenDays } from "../read-option.ts";

export const batchSizeMax = 100;

export interface BatchOptions {
  /** 2 to 100. */
  readonly maxSize: number;
  /** The first event waits this long for others: "1s" to "7d". */
  readonly timeout: string | number;
  /** CEL over `event`: one batch for each value. */
  readonly key?: string;
  /** CEL over `event`: where it is not true, the event starts a run of its own. */
  readonly if?: string;
}

export interface BatchConfig {
  readonly maxSize: number;
  readonly timeoutMs: number;
  readonly key: string | null;
  /** CEL over `event`: where it is not true, the event starts a run of its own. */
  readonly if: string | null;
}

export const batch: FlowOption<BatchConfig> = {
  written: "batchEvents",
  gathers: true,
  manyEvents: true,
  read(value) {
    const option = "batchEvents";
    const { maxSize, timeout, key, if: filter } = fieldsOf(value, option, ["maxSize", "timeout", "key", "if"]);
    if (typeof maxSize === "number" && maxSize > batchSizeMax) {
      const why = `it must be a whole number from 2 to ${batchSizeMax}: a run carries every event of its batch in every call`;
      throw errors.OPTION_INVALID({ option: "batchEvents.maxSize", why });
    }
    return {
      maxSize: readCount(maxSize, "batchEvents.maxSize", 2, batchSizeMax),
      timeoutMs: readPeriod(timeout, "batchEvents.timeout", sevenDays),
      key: readKey(key, option),
      if: filter === undefined ? null : readExpression(filter, "batchEvents.if"),
    };
  },
  refuseUnknown: (where, value) =>
    refuseUnknown<BatchOptions>(where, value, { maxSize: true, timeout: true, key: true, if: true }),
};
