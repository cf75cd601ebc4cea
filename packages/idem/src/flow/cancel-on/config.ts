// Events that cancel a run while it is open.
import { lasting, parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { nameCharsMax, readExpression } from "../../model/function-options.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { matchExpression } from "../../model/match-expression.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf } from "../read-option.ts";

const cancelOnMax = 5;

export interface CancelOnOptions {
  /** The name of the event that cancels. */
  readonly event: string;
  /** CEL over `event` (the run's own) and `async` (the arriving one). */
  readonly if?: string;
  /** A path that must be equal in both events, such as "data.orderId". */
  readonly match?: string;
  /** The event counts for this long after the run's creation. */
  readonly timeout?: string | number;
}

export interface CancelConfig {
  readonly event: string;
  /** CEL over `event` (the run's own) and `async` (the arriving one); null for any. A `match` is written out here. */
  readonly if: string | null;
  /** Counts for this long after the run's creation. */
  readonly timeoutMs: number | null;
}

export const cancelOn: FlowOption<readonly CancelConfig[]> = {
  written: "cancelOn",
  onWire: "cancel",
  byOneEvent: true,
  read(value) {
    const option = "cancelOn";
    if (!Array.isArray(value)) {
      throw errors.OPTION_INVALID({ option, why: "it must be a list of { event, if?, match?, timeout? }" });
    }
    if (value.length > cancelOnMax) throw errors.OPTION_INVALID({ option, why: `at most ${cancelOnMax} are allowed` });
    return value.length === 0 ? undefined : value.map((each, i) => readCancel(each, `${option}[${i}]`));
  },
  refuseUnknown(where, value) {
    for (const each of Array.isArray(value) ? value : [value]) {
      refuseUnknown<CancelOnOptions>(where, each, { event: true, if: true, match: true, timeout: true });
    }
  },
};

function readCancel(value: unknown, option: string): CancelConfig {
  const { event, if: filter, match, timeout } = fieldsOf(value, option, ["event", "if", "match", "timeout"]);
  if (typeof event !== "string" || event === "" || event.length > nameCharsMax || event.includes("*")) {
    const why = "it must be the whole name of an event, without *";
    throw errors.OPTION_INVALID({ option: `${option}.event`, why });
  }
  return { event, if: readIf(filter, match, option), timeoutMs: readTimeout(timeout, `${option}.timeout`) };
}

function readIf(filter: unknown, match: unknown, option: string): string | null {
  const written = filter === undefined ? null : readExpression(filter, `${option}.if`);
  if (match === undefined) return written;
  const matching = matchExpression(match);
  if (!matching.ok) throw errors.OPTION_INVALID({ option: `${option}.match`, why: matching.why });
  return readExpression(
    written === null ? matching.expression : `${matching.expression} && (${written})`,
    `${option}.match`,
  );
}

function readTimeout(value: unknown, option: string): number | null {
  if (value === undefined) return null;
  // The SDK lets authors write a date and sends it as ISO 8601; a registration outlives any date.
  if (value instanceof Date || (typeof value === "string" && /^\d{4}-\d\d-\d\d/.test(value))) {
    const why = 'it counts from the creation of each run, so it must be a duration such as "1h", not a date';
    throw errors.OPTION_INVALID({ option, why });
  }
  return lasting(parseDuration(value as string | number, option), option);
}
