// GET /api/radar/preview: how often a rule would have alerted, before it is made.
import { z } from "zod";
import type { Engine } from "../../../engine/engine.ts";
import { chargeCost, readingCost } from "../../../model/metered-cost.ts";
import { makeUlid } from "../../../model/ulid.ts";
import { dayMs } from "../../../model/window.ts";
import { countDoubledEffects } from "../../../radar/effect-watch.ts";
import { RuleWatch } from "../../../radar/rule-watch.ts";
import { makeRule, type RadarRule } from "../../../radar/rules.ts";
import type { Arrival } from "../../../store/alerts.ts";
import { apiRoute } from "../../api/api-route.ts";
import { pageWork } from "../../api/paging.ts";

const days = 7;
// Of 64 KB each at most.
const pageRows = 50;
// 10,000 events: some tenths of a second of reading, and no page of it holds up a commit.
const pagesMax = 200;
const effectPagesMax = 20;

export const previewRule = apiRoute({
  method: "GET",
  path: "/api/radar/preview",
  summary: "Count how often a rule would have alerted in the last seven days",
  tag: "radar",
  query: {
    more: z.coerce.number().int().default(1).describe("Alert when there are more than this many"),
    what: z.enum(["runs", "events", "effects"]).default("runs"),
    of: z
      .string()
      .max(512)
      .optional()
      .describe('"key", or a field such as event.data.placementId; effects are counted by "entity"'),
    within: z.string().max(32).default("60s").describe('From "1s" to "1h"'),
    function: z.string().min(1).max(256).optional().describe("Only this function"),
    after: z.string().min(1).max(64).optional().describe("`next` of the count before: what came after it is counted"),
  },
  answer: z.object({
    count: z.number().int().describe("How many times it would have alerted"),
    eventCount: z.number().int().describe("How many events were looked at; for a rule about effects, how many effects"),
    days: z.number().int(),
    isAll: z
      .boolean()
      .describe("False when there were more than one answer looks at; of events the oldest are counted"),
    next: z.string().nullable().describe("Where it stopped among the events: give it as `after` to count on"),
  }),
  handle: async ({ query, engine, env, now }) => {
    const { after, ...asked } = query;
    const rule = makeRule("preview", asked);
    if (rule.what !== "effects") return countAlerts(engine, env, rule, now, after);
    const bounds = { since: now - days * dayMs, now, pagesMax: effectPagesMax };
    const { count, looked, isAll } = await countDoubledEffects(engine.store.reads, env, rule, bounds);
    return { count, eventCount: looked, days, isAll, next: null };
  },
});

async function countAlerts(engine: Engine, env: string, rule: RadarRule, now: number, from?: string) {
  const work = pageWork(engine);
  const watch = new RuleWatch();
  const before = firstIdOf(now + 1);
  const oldest = firstIdOf(now - days * dayMs);
  let after = from !== undefined && from > oldest ? from : oldest;
  let count = 0;
  let eventCount = 0;
  const counted = (next: string | null) => ({ count, eventCount, days, isAll: next === null, next });
  for (let page = 0; page < pagesMax; page++) {
    const { rows } = await engine.store.reads.arrivals(env, { after, before, limit: pageRows });
    for (const arrival of rows) {
      const turn = work.next();
      if (turn !== undefined) await turn;
      count += work.do(() => alertsOf(arrival));
      eventCount += 1;
      after = arrival.event.id;
      if (work.isSpent) return counted(after);
    }
    if (rows.length < pageRows) return counted(null);
  }
  return counted(after);

  function alertsOf({ event, decisions }: Arrival): number {
    // As the radar itself: Idem's own events are no work that anybody asked for.
    if (/^(idem|inngest)\//.test(event.name)) return 0;
    const started = decisions.filter(({ kind, runId }) => kind === "started" && runId !== null);
    chargeCost(readingCost(event.data) * (1 + started.length));
    let found = event.firstEventId === null ? watch.seeEvent([rule], event).length : 0;
    for (const { runId, fn, key, decidedAt } of started) {
      found += watch.seeRun([rule], { fn, key, id: runId!, at: decidedAt }, event).length;
    }
    return found;
  }
}

/** No id of this instant or later is smaller. */
const firstIdOf = (ms: number): string => makeUlid(Math.max(0, Math.floor(ms)), new Uint8Array(10));
