// Everything at a glance, as /api shows it: how all functions' runs ended over a time, what stands in line now, and who works on it.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { shownApp } from "../../model/function-names.ts";
import { knownFunctions } from "../../radar/functions-known.ts";
import { hourMs } from "../../store/counts.ts";
import type { EndCount } from "../../store/ends.ts";
import { endsByStretch, endsIn, sumEnds } from "../groups/ends.ts";
import { byFn } from "../groups/function-figures.ts";
import { linesNow } from "../groups/lines.ts";
import { tallyNow } from "../groups/tally.ts";
import { addUp } from "../groups/totals.ts";
import { endSum } from "./function-groups.ts";
import { lineNow } from "./line-shape.ts";

export const overviewRanges = { "1h": hourMs, "24h": 24 * hourMs, "7d": 7 * 24 * hourMs } as const;
export type OverviewRange = keyof typeof overviewRanges;
const bucketsMax = 61;

const asked = {
  suppressed: z.number().int().describe("Duplicates that were answered with an earlier run"),
  slipped: z.number().int().describe("Runs that ran again though nobody asked for it"),
};

export const overview = z.object({
  asOf: z.number().int(),
  since: z.number().int().describe("Where what is counted begins: at the beginning of an hour; of a minute for 1h"),
  bucketMs: z.number().int(),
  total: z.object({
    ...endSum,
    ...asked,
    doubledKeys: z.number().int().describe("In how many groups something slipped through"),
    waiting: z.number().int().describe("In line now"),
    oldestAt: z.number().int().nullable().describe("Since when the one that has stood in line longest does"),
    atWork: z.number().int(),
  }),
  buckets: z.array(z.object({ at: z.number().int(), ...endSum })),
  functions: z
    .array(
      z.object({
        function: z.string(),
        id: z.string(),
        app: z.string(),
        pausedAt: z.number().int().nullable(),
        ...endSum,
        ...asked,
        line: lineNow,
        buckets: z
          .array(z.object({ ended: z.number().int(), failed: z.number().int() }))
          .describe("As long as those of all"),
      }),
    )
    .describe("Those that ended runs, or have some in line or at work; trouble first, then by how many ended"),
  quiet: z.array(z.object({ function: z.string() })).describe("Functions of which nothing ended and nothing is open"),
  isAll: z.boolean().describe("False while what was suppressed and slipped through is not counted to the end"),
});
export type Overview = z.infer<typeof overview>;

export async function overviewOf(engine: Engine, env: string, range: OverviewRange, now: number): Promise<Overview> {
  const { reads } = engine.store;
  const until = now + 1;
  const asked = { since: until - overviewRanges[range], until };
  const [{ functions }, known, ends] = await Promise.all([
    reads.functions(env),
    knownFunctions(reads, env),
    endsIn(reads, env, asked, now),
  ]);
  const [tally, lineOf] = await Promise.all([
    tallyNow(engine, env, known, { since: ends.since, until }, now, ends.stepMs),
    linesNow(engine, env, functions, now),
  ]);
  const { total, byFunction, doubledKeys } = addUp(tally);
  const { bucketMs, stretches } = endsByStretch(ends, bucketsMax);
  const endsOf = byFn(ends.counts);
  const told = functions.map((registered) => {
    const { fn } = registered;
    const own = endsOf.get(fn) ?? [];
    const { suppressed = 0, slipped = 0 } = byFunction.get(fn) ?? {};
    const config = JSON.parse(registered.config) as FunctionConfig;
    return {
      function: fn,
      id: registered.id,
      app: shownApp({ app: registered.app, config }),
      pausedAt: registered.pausedAt,
      ...sumEnds(own),
      suppressed,
      slipped,
      line: lineOf(fn),
      buckets: sparkOf(own, ends.since, bucketMs, stretches.length),
    };
  });
  const isQuiet = ({ ended, slipped, line }: (typeof told)[number]) =>
    ended + slipped + line.waiting + line.atWork === 0;
  const lines = told.map(({ line }) => line);
  const oldest = lines.flatMap(({ oldestAt }) => oldestAt ?? []);
  return {
    asOf: now,
    since: ends.since,
    bucketMs,
    total: {
      ...sumEnds(ends.counts),
      suppressed: total.suppressed,
      slipped: total.slipped,
      doubledKeys,
      waiting: lines.reduce((sum, { waiting }) => sum + waiting, 0),
      oldestAt: oldest.length === 0 ? null : Math.min(...oldest),
      atWork: lines.reduce((sum, { atWork }) => sum + atWork, 0),
    },
    buckets: stretches.map(({ at, counts }) => ({ at, ...sumEnds(counts) })),
    functions: told.filter((each) => !isQuiet(each)).sort((a, b) => weight(b) - weight(a) || b.ended - a.ended),
    quiet: told.filter(isQuiet).map((each) => ({ function: each.function })),
    isAll: tally.isAll,
  };
}

/** Ran twice before failed before long in line. */
const weight = ({
  slipped,
  failed,
  line,
}: Pick<Overview["functions"][number], "slipped" | "failed" | "line">): number =>
  (slipped > 0 ? 4 : 0) + (failed > 0 ? 2 : 0) + (line.behind === null ? 0 : 1);

function sparkOf(counts: readonly EndCount[], since: number, bucketMs: number, length: number) {
  const bars = Array.from({ length }, () => ({ ended: 0, failed: 0 }));
  for (const { at, completed, failed, cancelled } of counts) {
    const bar = bars[Math.floor((at - since) / bucketMs)];
    if (bar === undefined) continue;
    bar.ended += completed + failed + cancelled;
    bar.failed += failed;
  }
  return bars;
}
