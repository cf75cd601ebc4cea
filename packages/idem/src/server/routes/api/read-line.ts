// GET /api/functions/:function/line: how far behind a function is, why, and who waits.
import { z } from "zod";
import { limitsOf } from "../../../engine/limit-function.ts";
import { countsSteps } from "../../../flow/concurrency/beside.ts";
import { readLane } from "../../../flow/lane.ts";
import { everyone } from "../../../flow/plan-keys.ts";
import { errors } from "../../../model/errors.ts";
import type { FunctionConfig } from "../../../model/function-config.ts";
import { shownApp } from "../../../model/function-names.ts";
import { ulidTime } from "../../../model/ulid.ts";
import { minuteMs } from "../../../store/ends.ts";
import { nothingOpen, type RunSummary, type StoreReads } from "../../../store/reads.ts";
import { apiRoute } from "../../api/api-route.ts";
import { lineNow } from "../../api/line-shape.ts";
import { sumEnds } from "../../groups/ends.ts";
import { slotsOf } from "../../groups/function-figures.ts";
import { linesNow } from "../../groups/lines.ts";

const lanesMax = 100;
const nextMax = 10;
const historyMs = 60 * minuteMs;
// A line of more than this is not read to its end for a few names; its oldest is known all the same.
const pageRows = 1_000;
const pagesMax = 5;

export const readLine = apiRoute({
  method: "GET",
  path: "/api/functions/:function/line",
  summary: "Read how far behind a function is: who is in line, what holds them back, and how fast it moves",
  tag: "functions",
  answer: z.object({
    function: z.string(),
    id: z.string(),
    app: z.string(),
    pausedAt: z.number().int().nullable(),
    line: lineNow,
    limits: z.array(
      z.object({
        kind: z.enum(["concurrency", "throttle"]),
        limit: z.number().int().describe("As it counts now"),
        own: z.number().int().describe("As it is configured"),
        until: z.number().int().nullable().describe("Until when another stands in for its own; null where none does"),
        periodMs: z.number().nullable(),
        key: z.string().nullable(),
        scope: z.enum(["fn", "env", "account"]),
        used: z.number().int().nullable().describe("Null where it is not one limit of this function alone"),
      }),
    ),
    lanes: z
      .array(
        z.object({
          keys: z
            .array(z.string())
            .describe("Values of the limits' keys, as JSON, in the order of `limits`; none where none has a key"),
          waiting: z.number().int(),
          atWork: z.number().int(),
          oldestAt: z.number().int().nullable(),
        }),
      )
      .describe(`Those that take the same slots stand in one lane, and lanes take turns; the longest ${lanesMax}`),
    next: z
      .array(z.object({ run: z.string(), key: z.string().nullable(), createdAt: z.number().int() }))
      .describe(`The ${nextMax} that have waited longest; none in a line of more than ${pageRows * pagesMax}`),
    minutes: z
      .array(z.object({ at: z.number().int(), ended: z.number().int(), started: z.number().int().nullable() }))
      .describe("The last hour; `started` is null where there were too many to count"),
  }),
  handle: async ({ params, engine, env, now }) => {
    const fn = params.function!;
    const { reads } = engine.store;
    const registered = (await reads.functions(env)).functions.find((each) => each.fn === fn);
    if (registered === undefined) throw errors.FUNCTION_UNKNOWN({ function: fn });
    const config = JSON.parse(registered.config) as FunctionConfig;
    const since = Math.floor((now - historyMs) / minuteMs) * minuteMs;
    const [lineOf, lanes, ended, started, oldest] = await Promise.all([
      linesNow(engine, env, [registered], now),
      reads.lines(env, { fn, limit: lanesMax }),
      reads.endCounts(env, { since, until: now + 1, stepMs: minuteMs, fn }),
      reads.liveCounts(env, { since, until: now + 1, after: "", stepMs: minuteMs, examinedMax: 20_000, fn }),
      queuedOf(reads, env, fn),
    ]);
    const line = lineOf(fn);
    const held = countsSteps(config.concurrency)
      ? ((await reads.counts(env)).byFunction[fn] ?? nothingOpen)
      : { running: line.atWork, beside1: 0, beside2: 0 };
    const endedAt = new Map(ended.map((count) => [count.at, sumEnds([count]).ended]));
    const startedAt = new Map(started.counts.map((count) => [count.at, count.started]));
    const { throttle } = config;
    return {
      function: fn,
      id: registered.id,
      app: shownApp({ app: registered.app, config }),
      pausedAt: registered.pausedAt,
      line,
      limits: [
        ...limitsOf(registered, now).map(({ key, scope, ...limit }, position) => ({
          ...{ kind: "concurrency" as const, ...limit, periodMs: null, key, scope },
          used: key === null && scope === "fn" ? slotsOf(held, position) : null,
        })),
        ...(throttle === undefined
          ? []
          : [
              {
                ...{ kind: "throttle" as const, limit: throttle.limit, own: throttle.limit, until: null },
                periodMs: throttle.periodMs,
                ...{ key: throttle.key, scope: "fn" as const, used: null },
              },
            ]),
      ],
      lanes: lanes.map(({ lane, queued, running, oldestId }) => ({
        keys: lane === null ? [] : keysOf(lane),
        waiting: queued,
        atWork: running,
        oldestAt: oldestId === null ? null : ulidTime(oldestId),
      })),
      next: oldest.map(({ id, key, createdAt }) => ({ run: id, key, createdAt })),
      minutes: Array.from({ length: Math.ceil((now + 1 - since) / minuteMs) }, (_, i) => {
        const at = since + i * minuteMs;
        return { at, ended: endedAt.get(at) ?? 0, started: started.isAll ? (startedAt.get(at) ?? 0) : null };
      }),
    };
  },
});

/** Open runs are listed newest first; in a line longer than is looked at, those that have waited longest of what was seen. */
async function queuedOf(reads: StoreReads, env: string, fn: string): Promise<RunSummary[]> {
  const oldest: RunSummary[] = [];
  let before: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const { rows, next } = await reads.runPage(env, {
      ...{ fn, state: "queued", limit: pageRows, examinedMax: 10_000 },
      ...(before === undefined ? {} : { before }),
    });
    oldest.push(...rows);
    if (next === null) return oldest.reverse().slice(0, nextMax);
    before = next;
  }
  return [];
}

/** A slot's name ends with the key's value, which is JSON; the names before it hold no space. */
function keysOf(lane: string): string[] {
  const { slots } = readLane(lane);
  return slots.flatMap((slot) => {
    const places = slot.startsWith("account ") ? 1 : slot.startsWith("env ") ? 2 : 4;
    const key = slot.split(" ").slice(places).join(" ");
    return key === everyone ? [] : [key];
  });
}
