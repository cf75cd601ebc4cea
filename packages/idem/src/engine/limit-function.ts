// A person raises or lowers how many runs of a function may be at work, for a while. It lives in the store, so it holds on every node; it ends
// by itself at an instant of the store's clock, and no process has to be there then (docs/flow.md has the table of cases).
import type { ConcurrencyLimit } from "../flow/concurrency/config.ts";
import { isOf, limitsAt, readTemporary, type TemporaryLimit } from "../flow/concurrency/temporary.ts";
import { errors } from "../model/errors.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import type { Audited } from "../store/audit.ts";
import type { RegisteredFunction } from "../store/functions.ts";
import { limitKind } from "../store/settings.ts";
import type { Engine } from "./engine.ts";

const minuteMs = 60_000;
/** Shorter than a node may take to hear of it makes no sense; longer than a week is a line of configuration. */
export const limitForMs = { min: minuteMs, max: 7 * 24 * 60 * minuteMs };
/** As many slots as a lease ever counts; more is no limit. */
export const limitMax = 100_000;

export interface LimitRequest extends Audited {
  /** The most runs at work at once; null to let its own limit count again. */
  readonly concurrency: number | null;
  readonly forMs: number;
  /** Which of its limits, from 1; null where it has one. */
  readonly which: number | null;
  readonly reason: string;
}

/** One of a function's limits as it counts now. */
export interface LimitNow {
  readonly limit: number;
  readonly key: string | null;
  readonly scope: ConcurrencyLimit["scope"];
  /** The limit in its configuration. */
  readonly own: number;
  /** Until when the other one counts; null where its own does. */
  readonly until: number | null;
}

export function limitsOf({ config, limits }: Pick<RegisteredFunction, "config" | "limits">, now: number): LimitNow[] {
  const { concurrency = [] } = JSON.parse(config) as FunctionConfig;
  return limitsAt(concurrency, readTemporary(limits), now).map(({ limit, key, scope, own = limit, until = null }) => ({
    limit,
    key,
    scope,
    own,
    until,
  }));
}

/** The limits that count afterwards. Asked again, the newer word counts whole: nothing adds up. */
export async function limitFunction(engine: Engine, fn: string, request: LimitRequest): Promise<readonly LimitNow[]> {
  const { store, env, registry } = engine;
  const { concurrency, forMs, reason, actor } = request;
  refuse(request);
  for (;;) {
    const { functions } = await store.reads.functions(env);
    const registered = functions.find((each) => each.fn === fn);
    if (registered === undefined) throw errors.FUNCTION_UNKNOWN({ function: fn });
    const meant = meantLimit(registered, request);
    const setting = (await store.reads.settings(env, limitKind)).find(({ name }) => name === fn);
    const now = await store.reads.now();
    const others = readTemporary(setting?.value ?? null).filter((each) => now < each.until && !isOf(each, meant));
    const { key, scope } = meant;
    const other: TemporaryLimit[] =
      concurrency === null ? [] : [{ limit: concurrency, key, scope, since: now, until: now + forMs }];
    const limits = [...others, ...other];
    const words =
      concurrency === null ? `back to ${meant.limit}` : `${meant.limit} to ${concurrency} for ${forMs / minuteMs} min`;
    const answer = await store.set({
      env,
      kind: limitKind,
      name: fn,
      value: limits.length === 0 ? null : JSON.stringify(limits),
      over: setting?.version ?? 0,
      reason: reason === "" ? words : `${words}: ${reason}`,
      actor,
    });
    // Another process changed it meanwhile: that change is read first.
    if (answer.kind === "differs") continue;
    await registry.refresh();
    return limitsOf({ config: registered.config, limits: JSON.stringify(limits) }, now);
  }
}

function refuse({ concurrency, forMs }: LimitRequest): void {
  if (concurrency === null) return;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > limitMax) {
    const why = `it must be a whole number from 1 to ${limitMax}; to start no runs at all, pause the function`;
    throw errors.OPTION_INVALID({ option: "concurrency", why });
  }
  if (!Number.isFinite(forMs) || forMs < limitForMs.min || forMs > limitForMs.max)
    throw errors.OPTION_INVALID({ option: "for", why: "it must be from 1 minute to 7 days" });
}

/** By its own configuration: what stands in for a limit now is not what is stood in for. */
function meantLimit({ fn, config }: RegisteredFunction, { which }: LimitRequest): ConcurrencyLimit {
  const { concurrency = [] } = JSON.parse(config) as FunctionConfig;
  if (concurrency.length === 0) {
    const why = `function "${fn}" has no limit on how many runs are at work; give it one in its options first`;
    throw errors.OPTION_INVALID({ option: "concurrency", why });
  }
  if (which === null && concurrency.length > 1) {
    const named = concurrency.map(({ limit, key }, i) => `${i + 1}: ${limit}${key === null ? "" : ` for each ${key}`}`);
    throw errors.OPTION_INVALID({ option: "which", why: `function "${fn}" has several limits (${named.join("; ")})` });
  }
  const meant = concurrency[(which ?? 1) - 1];
  if (meant === undefined)
    throw errors.OPTION_INVALID({ option: "which", why: `function "${fn}" has ${concurrency.length}, counted from 1` });
  return meant;
}
