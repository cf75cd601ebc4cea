// Functions as /api shows them: how each is set up, and what is open of it.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import type { OpenCounts, RegisteredFunction, StoreCounts } from "../../store/store.ts";

const openCounts = z.object({
  queued: z.number().int(),
  running: z.number().int(),
  waiting: z.number().int(),
  due: z.number().int().describe("Of the queued and waiting: how many could run now"),
});

export const functionItem = z.object({
  function: z.string().describe("`<app>-<id>`: its name in the environment"),
  app: z.string(),
  id: z.string(),
  name: z.string(),
  triggers: z.array(
    z.union([z.object({ event: z.string(), if: z.string().optional() }), z.object({ cron: z.string() })]),
  ),
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
});
export type FunctionItem = z.infer<typeof functionItem>;

const nothingOpen: OpenCounts = { queued: 0, running: 0, waiting: 0, due: 0 };

export function functionItemOf(registered: RegisteredFunction, counts: StoreCounts): FunctionItem {
  const config = JSON.parse(registered.config) as FunctionConfig;
  const { idempotency, runtime } = config;
  return {
    function: registered.fn,
    app: registered.app,
    id: registered.id,
    name: config.name,
    triggers: config.triggers.map((trigger) =>
      "cron" in trigger
        ? { cron: trigger.cron }
        : { event: trigger.event, ...(trigger.if === undefined ? {} : { if: trigger.if }) },
    ),
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
  };
}

/** Throws FUNCTION_UNKNOWN. */
export async function functionItemIn({ store, env }: Engine, fn: string): Promise<FunctionItem> {
  const [{ functions }, counts] = await Promise.all([store.reads.functions(env), store.reads.counts(env)]);
  const registered = functions.find((each) => each.fn === fn);
  if (registered === undefined) throw errors.FUNCTION_UNKNOWN({ function: fn });
  return functionItemOf(registered, counts);
}
