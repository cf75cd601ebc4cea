// Bounds the runs at work at once, or their steps.
import { errors } from "../../model/errors.ts";
import { isJsonObject } from "../../model/json.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import type { FlowOption } from "../option.ts";
import { fieldsOf, readCount, readKey } from "../read-option.ts";

const limitsMax = 2;

export interface ConcurrencyOptions {
  /** Most at once. */
  readonly limit: number;
  /** CEL over `event`: one limit for each value. */
  readonly key?: string;
  /** Whose runs share the limit: this function's ("fn", the default), or those of all functions of the environment or the store. */
  readonly scope?: "fn" | "env" | "account";
  /**
   * Steps that a run begins side by side (`Promise.all`) run side by side, and each takes a slot of this limit: it then bounds steps at once.
   * Without it, in every limit of the function, a run takes one slot and its steps run one after another.
   *
   * @example { id: "resize", concurrency: { limit: 10, parallelSteps: true } }
   */
  readonly parallelSteps?: boolean;
}

export interface ConcurrencyLimit {
  readonly limit: number;
  /** CEL over `event`; null for one limit on the whole function. */
  readonly key: string | null;
  /** Whose runs share the limit: this function's, or those of all functions of the environment or of the store with an equal key. */
  readonly scope: "fn" | "env" | "account";
  /** Steps side by side take a slot each. Absent where the limit counts runs. */
  readonly parallelSteps?: true;
  /** While a temporary limit stands in for it: what the configuration says, and until when. Never written. */
  readonly own?: number;
  readonly until?: number;
}

/** The shape that tells runs from steps, beside the one with a limit. */
interface RunAndStep {
  readonly fn?: unknown;
  readonly step?: unknown;
}

export const concurrency: FlowOption<readonly ConcurrencyLimit[]> = {
  written: "concurrency",
  read(value) {
    const option = "concurrency";
    if (typeof value === "number") return [{ limit: readAtOnce(value, option), key: null, scope: "fn" }];
    if (Array.isArray(value)) return value.length === 0 ? undefined : readLimits(value, option);
    if (!isJsonObject(value)) {
      const why = `it must be a whole number, { limit, key?, scope?, parallelSteps? } or a list of at most ${limitsMax} of these`;
      throw errors.OPTION_INVALID({ option, why });
    }
    if (!("fn" in value || "step" in value)) return [readLimit(value, option)];
    const limits = readRunAndStep(value);
    return limits.length === 0 ? undefined : limits;
  },
  refuseUnknown(where, value) {
    const limit = (each: unknown) =>
      refuseUnknown<ConcurrencyOptions>(where, each, {
        limit: true,
        key: true,
        scope: true,
        parallelSteps: true,
      });
    for (const each of listOf(value)) {
      const { fn, step } = Object(each) as RunAndStep;
      if (fn === undefined && step === undefined) limit(each);
      else {
        refuseUnknown<RunAndStep>(where, each, { fn: true, step: true });
        for (const one of [...listOf(fn), ...listOf(step)]) limit(one);
      }
    }
  },
  /**
   * To the SDK's authors a concurrency of 0 "means use the maximum available concurrency" (its types), that is no limit. `parallelSteps` is a
   * word of Idem's own SDK; what else somebody means by it there is passed over.
   */
  fromWire(value) {
    const limits = (list: unknown): unknown =>
      Array.isArray(list) ? list.filter((limit) => !isJsonObject(limit) || limit.limit !== 0).map(ownWord) : list;
    if (value === 0) return undefined;
    if (!isJsonObject(value)) return limits(value);
    const { limit, fn, step } = value;
    if (fn === undefined && step === undefined) return limit === 0 ? undefined : ownWord(value);
    return { ...value, fn: limits(fn), step: limits(step) };
  },
};

function ownWord(limit: unknown): unknown {
  if (!isJsonObject(limit) || limit.parallelSteps === undefined || limit.parallelSteps === true) return limit;
  const { parallelSteps: _passedOver, ...known } = limit;
  return known;
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

/** The newer shape tells runs from steps. Here one run at work counts once, so both are limits on the same thing. */
function readRunAndStep(value: Record<string, unknown>): ConcurrencyLimit[] {
  const { fn = [], step = [] } = fieldsOf(value, "concurrency", ["fn", "step"]);
  const narrowest = new Map<string, ConcurrencyLimit>();
  for (const limit of [...readLimits(fn, "concurrency.fn"), ...readLimits(step, "concurrency.step")]) {
    const name = slotOf(limit);
    const other = narrowest.get(name);
    if (other === undefined || limit.limit < other.limit) narrowest.set(name, limit);
  }
  if (narrowest.size > limitsMax) throw tooManyLimits("concurrency");
  return [...narrowest.values()];
}

const tooManyLimits = (option: string) =>
  errors.OPTION_INVALID({ option, why: `at most ${limitsMax} limits are allowed` });

function readLimits(value: unknown, option: string): ConcurrencyLimit[] {
  if (!Array.isArray(value))
    throw errors.OPTION_INVALID({ option, why: "it must be a list of { limit, key?, scope?, parallelSteps? }" });
  if (value.length > limitsMax) throw tooManyLimits(option);
  const limits = value.map((each, i) => readLimit(each, `${option}[${i}]`));
  const [first, second] = limits;
  if (first !== undefined && second !== undefined && slotOf(first) === slotOf(second)) {
    const why = "two limits have the same key and scope, so only the smaller one would count; remove the other";
    throw errors.OPTION_INVALID({ option, why });
  }
  return limits;
}

const slotOf = ({ scope, key }: ConcurrencyLimit): string => JSON.stringify([scope, key]);

function readLimit(value: unknown, option: string): ConcurrencyLimit {
  const {
    limit,
    key,
    scope = "fn",
    parallelSteps = false,
  } = fieldsOf(value, option, ["limit", "key", "scope", "parallelSteps"]);
  if (scope !== "fn" && scope !== "env" && scope !== "account") {
    throw errors.OPTION_INVALID({ option: `${option}.scope`, why: 'it must be "fn", "env" or "account"' });
  }
  if (scope !== "fn" && key === undefined) {
    const why = `scope "${scope}" needs one: it must be an expression for what the functions share, such as '"openai"'`;
    throw errors.OPTION_INVALID({ option: `${option}.key`, why });
  }
  if (typeof parallelSteps !== "boolean") {
    const why = "it must be true, for steps side by side that take a slot each, or false";
    throw errors.OPTION_INVALID({ option: `${option}.parallelSteps`, why });
  }
  const read: ConcurrencyLimit = { limit: readAtOnce(limit, `${option}.limit`), key: readKey(key, option), scope };
  return parallelSteps ? { ...read, parallelSteps } : read;
}

function readAtOnce(value: unknown, option: string): number {
  if (value !== 0) return readCount(value, option, 1);
  const why = "0 would let nothing run; it must be a whole number of at least 1, or left out for no limit";
  throw errors.OPTION_INVALID({ option, why });
}
