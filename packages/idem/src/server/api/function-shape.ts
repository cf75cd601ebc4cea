// Functions as /api shows them: how each is set up, and what is open of it.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import { type FunctionConfig, flowOf } from "../../model/function-config.ts";
import { countPending, type PendingCounts } from "../../observe/pending-counts.ts";
import type { OpenCounts, StoreCounts } from "../../store/reads.ts";
import type { RegisteredFunction } from "../../store/store.ts";
import { flow, trigger } from "./flow-shape.ts";

const openCounts = z.object({
  queued: z.number().int(),
  running: z.number().int(),
  waiting: z.number().int(),
  due: z.number().int().describe("Of the queued and waiting: how many could run now"),
});

const pendingCounts = z.object({
  held: z.number().int().describe("For a person, because their key is missing"),
  paused: z.number().int().describe("For a person, because the function was paused"),
  debounced: z.number().int(),
  batched: z.number().int(),
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
      onFailure: z.enum(["keep", "release"]),
      onMissing: z.enum(["run", "reject"]),
    })
    .nullable()
    .describe("Null for a function without a key: nothing but its steps protects it from running twice"),
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

const nothingOpen: OpenCounts = { queued: 0, running: 0, waiting: 0, due: 0 };

export function functionItemOf(
  registered: RegisteredFunction,
  counts: StoreCounts,
  pending: PendingCounts,
): FunctionItem {
  const config = JSON.parse(registered.config) as FunctionConfig;
  const { idempotency, runtime } = config;
  return {
    function: registered.fn,
    app: registered.app,
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
            onFailure: idempotency.onFailure,
            onMissing: idempotency.onMissing,
          },
    retries: config.retries,
    startTimeoutMs: config.startTimeoutMs,
    finishTimeoutMs: config.finishTimeoutMs,
    runtime: runtime === undefined ? null : { kind: runtime.kind, url: "url" in runtime ? runtime.url : null },
    pausedAt: registered.pausedAt,
    open: { ...(counts.byFunction[registered.fn] ?? nothingOpen) },
    pending,
  };
}

/** Throws FUNCTION_UNKNOWN. */
export async function functionItemIn({ store, env }: Engine, fn: string): Promise<FunctionItem> {
  const { reads } = store;
  const [{ functions }, counts] = await Promise.all([reads.functions(env), reads.counts(env)]);
  const registered = functions.find((each) => each.fn === fn);
  if (registered === undefined) throw errors.FUNCTION_UNKNOWN({ function: fn });
  return functionItemOf(registered, counts, (await countPending(reads, env, fn))(fn));
}
