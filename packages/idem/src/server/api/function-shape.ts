// Functions as /api shows them: how each is set up, and what is open of it.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { flowOf } from "../../flow/options.ts";
import { type GatheredKind, gatheredKinds } from "../../model/decision.ts";
import { errors } from "../../model/errors.ts";
import { type FunctionConfig, whyNoKey } from "../../model/function-config.ts";
import { shownApp } from "../../model/function-names.ts";
import { dayMs } from "../../model/window.ts";
import { countPending, type PendingCounts } from "../../observe/pending-counts.ts";
import { readVerdicts, verdictKind, verifiedWith } from "../../observe/published-verdicts.ts";
import { knownFunctions } from "../../radar/functions-known.ts";
import type { RegisteredFunction } from "../../store/functions.ts";
import { nothingOpen, openOf, type StoreCounts } from "../../store/reads.ts";
import { figuresOf, limitsNow, nextTicks } from "../groups/function-figures.ts";
import { linesNow } from "../groups/lines.ts";
import { flow, trigger } from "./flow-shape.ts";
import { figures } from "./function-groups.ts";
import { lineNow } from "./line-shape.ts";
import { verdictItem, verdictItemOf } from "./verdict-shape.ts";

const openCounts = z.object({
  queued: z.number().int(),
  running: z.number().int(),
  waiting: z.number().int(),
  parked: z.number().int().describe("For a person to let go on"),
  due: z.number().int().describe("Of the queued and waiting: how many could run now"),
});

const pendingCounts = z.object({
  held: z.number().int().describe("For a person, because their key is missing"),
  paused: z.number().int().describe("For a person, because the function was paused"),
  ...(Object.fromEntries(gatheredKinds.map((kind) => [kind, z.number().int()])) as Record<GatheredKind, z.ZodInt>),
  isAll: z.boolean().describe("False when there are more than were counted"),
});

export const functionItem = z.object({
  function: z.string().describe("`<app>-<id>`: its name in the environment"),
  app: z.string(),
  id: z.string(),
  name: z.string(),
  triggers: z.array(trigger),
  flow: flow.describe("What is not configured is absent"),
  key: z
    .object({
      expression: z.string(),
      windowMs: z.number(),
      untilFinished: z.boolean(),
      afterFailure: z.enum(["keep", "release"]),
      onMissing: z.enum(["run", "reject"]),
    })
    .nullable()
    .describe("Null for a function without a key: nothing but its steps protects it from running twice"),
  unkeyed: z
    .string()
    .nullable()
    .describe("Why it has no key: its author's words, or that what starts it comes once. Null where one is missing"),
  retries: z.number().int(),
  startTimeoutMs: z.number().nullable(),
  finishTimeoutMs: z.number().nullable(),
  runtime: z
    .object({ kind: z.string(), url: z.string().nullable() })
    .nullable()
    .describe("Null for code in this process"),
  pausedAt: z.number().int().nullable(),
  open: openCounts.describe("Runs that have not ended"),
  pending: pendingCounts.describe("Events that wait to be decided"),
});
export type FunctionItem = z.infer<typeof functionItem>;

export const functionInFigures = functionItem.extend({
  day: z.object(figures).describe("The last 24 hours"),
  line: lineNow,
  limits: z
    .array(
      z.object({
        limit: z.number().int(),
        key: z.string().nullable(),
        scope: z.enum(["fn", "env", "account"]),
        used: z.number().int().nullable().describe("Null where the limit is not the function's alone"),
      }),
    )
    .describe("Limits on runs at work"),
  nextTicks: z.array(z.number().int()).describe("The next five instants of its schedules; none while it is paused"),
  suggestedKey: z.string().nullable().describe("For a function without a key: the one the radar would give it"),
  verifiedWith: z
    .string()
    .nullable()
    .describe("Of a handler of another function's end: that function, whose verdict is about both"),
  verdict: verdictItem
    .nullable()
    .describe("What `idem verify --publish` said last; null for a function that was never verified"),
});
export type FunctionInFigures = z.infer<typeof functionInFigures>;

export function functionItemOf(
  registered: RegisteredFunction,
  counts: StoreCounts,
  pending: PendingCounts,
): FunctionItem {
  const config = JSON.parse(registered.config) as FunctionConfig;
  const { idempotency, runtime } = config;
  return {
    function: registered.fn,
    app: shownApp({ app: registered.app, config }),
    id: registered.id,
    name: config.name,
    triggers: [...config.triggers],
    flow: flowOf(config) as z.infer<typeof flow>,
    key:
      idempotency === null
        ? null
        : {
            expression: idempotency.key,
            windowMs: idempotency.windowMs,
            untilFinished: idempotency.untilFinished,
            afterFailure: idempotency.afterFailure,
            onMissing: idempotency.onMissing,
          },
    unkeyed: whyNoKey(config),
    retries: config.retries,
    startTimeoutMs: config.startTimeoutMs,
    finishTimeoutMs: config.finishTimeoutMs,
    runtime: runtime === undefined ? null : { kind: runtime.kind, url: "url" in runtime ? runtime.url : null },
    pausedAt: registered.pausedAt,
    open: openOf(counts.byFunction, registered.fn),
    pending,
  };
}

/** With `fn`, that one only; throws FUNCTION_UNKNOWN. */
export async function functionsInFigures(
  engine: Engine,
  env: string,
  now: number,
  fn?: string,
): Promise<FunctionInFigures[]> {
  const { reads } = engine.store;
  const [{ functions }, counts, pending, known, settings] = await Promise.all([
    reads.functions(env),
    reads.counts(env),
    countPending(reads, env, fn),
    knownFunctions(reads, env),
    reads.settings(env, verdictKind),
  ]);
  const verdicts = readVerdicts(settings);
  const wanted = functions.filter((each) => fn === undefined || each.fn === fn);
  if (fn !== undefined && wanted.length === 0) throw errors.FUNCTION_UNKNOWN({ function: fn });
  const range = { since: now - dayMs, until: now + 1, ...(fn === undefined ? {} : { fn }) };
  const names = wanted.map((each) => each.fn);
  const [of, lineOf] = await Promise.all([
    figuresOf(engine, env, known, names, range, now),
    linesNow(engine, env, wanted, now),
  ]);
  return wanted.map((registered) => {
    const item = functionItemOf(registered, counts, pending(registered.fn));
    const config = JSON.parse(registered.config) as FunctionConfig;
    const verdict = verdicts.get(registered.fn);
    return {
      ...item,
      day: of(registered.fn),
      line: lineOf(registered.fn),
      limits: limitsNow(config, counts.byFunction[registered.fn] ?? nothingOpen),
      nextTicks: nextTicks(registered, now),
      suggestedKey: known.guessOf(registered.fn),
      verifiedWith: verifiedWith(config),
      verdict: verdict === undefined ? null : verdictItemOf(verdict, config.fingerprint),
    };
  });
}

/** Throws FUNCTION_UNKNOWN. */
export async function functionItemIn({ store, env }: Engine, fn: string): Promise<FunctionItem> {
  const { reads } = store;
  const [{ functions }, counts] = await Promise.all([reads.functions(env), reads.counts(env)]);
  const registered = functions.find((each) => each.fn === fn);
  if (registered === undefined) throw errors.FUNCTION_UNKNOWN({ function: fn });
  return functionItemOf(registered, counts, (await countPending(reads, env, fn))(fn));
}
