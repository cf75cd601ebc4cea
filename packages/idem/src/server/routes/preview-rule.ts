// GET /api/radar/preview: how often a rule would have alerted, before somebody makes it.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { makeUlid } from "../../model/ulid.ts";
import { dayMs } from "../../model/window.ts";
import { countDoubledEffects } from "../../radar/effect-watch.ts";
import { RuleWatch } from "../../radar/rule-watch.ts";
import { makeRule, type RadarRule } from "../../radar/rules.ts";
import { apiRoute } from "../api/api-route.ts";

const days = 7;
const pageRows = 500;
// 10,000 events: some tenths of a second of reading, and no page of it holds up a commit.
const pagesMax = 20;

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
  },
  answer: z.object({
    count: z.number().int().describe("How many times it would have alerted"),
    eventCount: z.number().int().describe("How many events were looked at; for a rule about effects, how many effects"),
    days: z.number().int(),
    isAll: z
      .boolean()
      .describe("False when there were more than one answer looks at; of events the oldest are counted"),
  }),
  handle: async ({ query, engine, env, now }) => {
    const rule = makeRule("preview", query);
    if (rule.what !== "effects") return countAlerts(engine, env, rule, now);
    const bounds = { since: now - days * dayMs, now, pagesMax };
    const { count, looked, isAll } = await countDoubledEffects(engine.store.reads, env, rule, bounds);
    return { count, eventCount: looked, days, isAll };
  },
});

async function countAlerts(engine: Engine, env: string, rule: RadarRule, now: number) {
  const watch = new RuleWatch();
  const before = firstIdOf(now + 1);
  let after = firstIdOf(now - days * dayMs);
  let count = 0;
  let eventCount = 0;
  for (let page = 0; page < pagesMax; page++) {
    const { rows } = await engine.store.reads.arrivals(env, { after, before, limit: pageRows });
    for (const { event, decisions } of rows) {
      eventCount += 1;
      // As the radar itself: what Idem sends is no work that somebody asked for.
      if (/^(idem|inngest)\//.test(event.name)) continue;
      if (event.firstEventId === null) count += watch.seeEvent([rule], event).length;
      for (const { kind, runId, fn, key, decidedAt } of decisions) {
        if (kind !== "started" || runId === null) continue;
        count += watch.seeRun([rule], { fn, key, id: runId, at: decidedAt }, event).length;
      }
    }
    if (rows.length < pageRows) return { count, eventCount, days, isAll: true };
    after = rows.at(-1)!.event.id;
  }
  return { count, eventCount, days, isAll: false };
}

/** No id of this instant or later is smaller. */
const firstIdOf = (ms: number): string => makeUlid(Math.max(0, Math.floor(ms)), new Uint8Array(10));
