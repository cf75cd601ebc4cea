// Runs grouped by function.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { dayMs } from "../../model/window.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import { figuresOf } from "../groups/function-figures.ts";

export const figures = {
  asked: z.number().int().describe("first + suppressed + slipped"),
  first: z.number().int(),
  suppressed: z.number().int(),
  slipped: z.number().int(),
  failed: z.number().int().describe("Of the newest runs, as many as `sampled`"),
  p50Ms: z.number().int().nullable().describe("From start to end, waits included; of the newest runs"),
  p95Ms: z.number().int().nullable(),
  sampled: z.number().int(),
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
  const of = await figuresOf(engine, env, functions, wanted, range);
  return wanted.map((fn) => ({ function: fn, ...of(fn) }));
}
