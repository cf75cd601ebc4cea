// Runs grouped by function.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { dayMs } from "../../model/window.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import { figuresOf } from "../groups/function-figures.ts";

export const endSum = {
  ended: z
    .number()
    .int()
    .describe("completed + failed + cancelled: runs that ended in this time, whenever they were created"),
  completed: z.number().int(),
  failed: z.number().int(),
  cancelled: z.number().int(),
  p50Ms: z
    .number()
    .int()
    .nullable()
    .describe("From start to end, waits included, of the runs that ended; within 3 % of the true one"),
  p95Ms: z.number().int().nullable(),
};

export const figures = {
  asked: z.number().int().describe("first + suppressed + slipped"),
  first: z.number().int(),
  suppressed: z.number().int(),
  slipped: z.number().int(),
  ...endSum,
  since: z
    .number()
    .int()
    .describe("Where what is counted begins: at the beginning of an hour, or of a minute for up to 2 hours"),
  lastRunAt: z.number().int().nullable(),
};

export const functionGroup = z.object({ function: z.string(), ...figures });
export type FunctionGroup = z.infer<typeof functionGroup>;

/** The range is the last 7 days by default. */
export async function functionGroups(
  engine: Engine,
  env: string,
  functions: KnownFunctions,
  asked: { readonly since?: number; readonly until?: number; readonly fn?: string },
  now: number,
): Promise<FunctionGroup[]> {
  const until = asked.until ?? now + 1;
  const since = Math.min(asked.since ?? now - 7 * dayMs, until - 1);
  const registered = (await engine.store.reads.functions(env)).functions.map(({ fn }) => fn);
  const wanted = asked.fn === undefined ? registered : [asked.fn];
  const range = { since, until, ...(asked.fn === undefined ? {} : { fn: asked.fn }) };
  const of = await figuresOf(engine, env, functions, wanted, range, now);
  return wanted.map((fn) => ({ function: fn, ...of(fn) }));
}
