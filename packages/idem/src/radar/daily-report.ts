// Once a day, while functions or sources are new: what was found in each. The day is that of UTC; the first report of a thing comes on the
// day after it was first seen.
import { dayMs } from "../model/window.ts";
import type { Alert } from "../store/alerts.ts";
import type { StoreReads } from "../store/reads.ts";
import { type ChannelMessage, reportMessage, type WatchedThing } from "./channel-message.ts";
import { isClose, type Position, sourcesSetUp, withCodeSources } from "./close-watch.ts";

// A report is read on a telephone.
const thingsMax = 40;
const alertsMax = 200;

/** "2026-11-15" */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Null when nothing is to be reported on this day. */
export async function dailyReport(
  reads: Pick<StoreReads, "radarPosition" | "settings" | "alerts">,
  env: string,
  nameOf: (fn: string) => string,
  channelSince: number,
  now: number,
): Promise<((id: string) => ChannelMessage) | null> {
  const midnight = Math.floor(now / dayMs) * dayMs;
  if (channelSince >= midnight) return null;
  const isDue = (since: number) => isClose(since, now) && since < midnight;
  const kept = await reads.radarPosition(env);
  const { since = {}, sources: inCode } = kept === null ? {} : (JSON.parse(kept.position) as Partial<Position>);
  const functions = Object.entries(since).filter(([, at]) => isDue(at));
  const sources = withCodeSources(await sourcesSetUp(reads, env), inCode).filter((each) => isDue(each.since));
  if (functions.length + sources.length === 0) return null;
  const alerts = await reads.alerts(env, { limit: alertsMax });
  const thing = (what: WatchedThing["what"], name: string, at: number, found: readonly Alert[]): WatchedThing => ({
    what,
    name,
    day: Math.floor((now - at) / dayMs) + 1,
    alertCount: found.length,
    pairCount: found.reduce((sum, { pairCount }) => sum + pairCount, 0),
  });
  const things = [
    ...functions.map(([fn, at]) =>
      thing(
        "function",
        nameOf(fn),
        at,
        alerts.filter((alert) => alert.fn === fn),
      ),
    ),
    ...sources.map(({ name, since: at }) =>
      thing(
        "source",
        name,
        at,
        alerts.filter(({ about }) => about === `source:${name}`),
      ),
    ),
  ]
    .sort((a, b) => b.pairCount - a.pairCount || (a.name < b.name ? -1 : 1))
    .slice(0, thingsMax);
  const openCount = alerts.filter(({ state }) => state === "open").length;
  return (id) => reportMessage(id, dayOf(now), things, openCount, now);
}
