// GET /api/groups: what ran, one line per key: runs that share a window, doubled ones first.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { runStates } from "../../../model/run.ts";
import { functionKeyOf } from "../../../observe/function-key.ts";
import { knownFunctions } from "../../../radar/functions-known.ts";
import { apiRoute } from "../../api/api-route.ts";
import { eventGroup, eventGroups } from "../../api/event-groups.ts";
import { functionGroup, functionGroups } from "../../api/function-groups.ts";
import { groupItem } from "../../api/group-shape.ts";
import { beforeField, boundsOf, lookedBackToField, nextField, pageWork, partialField } from "../../api/paging.ts";
import { isRunOrder, runOrders } from "../../api/run-orders.ts";
import { tellTotals, totalsItem, totalsRange } from "../../api/totals-shape.ts";
import { endedRange } from "../../groups/ends.ts";
import { type GroupReading, gatherGroups } from "../../groups/gather-groups.ts";
import { type GroupFilter, groupPage } from "../../groups/group-page.ts";
import { loudCount, loudGroups, loudIds, newestOf, type SlippedRuns, withSeen } from "../../groups/loud-groups.ts";
import { matchingRuns } from "../../groups/matching-runs.ts";
import { sortedMax } from "../../groups/sorted-runs.ts";
import { slippedNow, slippedSoFar, tallyOf, withLoud, withUncounted } from "../../groups/tally.ts";
import { type JudgedGroup, judgeAll, tellGroups } from "../../groups/tell-group.ts";
import { instantText } from "../../read-input.ts";

const groupsMax = 100;
// The rest is behind "Show all".
const pinnedMax = 3;

export const listGroups = apiRoute({
  method: "GET",
  path: "/api/groups",
  summary: "List what ran, grouped by key, by function, by event, or run by run",
  tag: "runs",
  query: {
    group: z.enum(["key", "function", "event", "none"]).default("key"),
    order: z
      .enum(["attention", "newest", ...runOrders])
      .default("attention")
      .describe(
        "`attention`: groups in which something slipped through come apart, in `pinned`. By length and by start: with `group=none`; " +
          "open runs as long as they are at it, those that have not begun are left out",
      ),
    fn: z.string().min(1).max(256).optional(),
    state: z.enum(runStates).optional(),
    key: z.string().min(1).max(2_048).optional().describe('With fn: runs of this key, such as 7 or "7"'),
    event: z.string().min(1).max(256).optional().describe("A stored id, or the name of events"),
    q: z.string().min(1).max(200).optional().describe("Text in key, function, name of the event, or an id"),
    cel: z.string().min(1).max(4_096).optional().describe("CEL over `event` and `output`"),
    show: z.enum(["doubled", "suppressed", "failed", "no-worker"]).optional(),
    ids: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe("Only the groups of these runs, at most 100, separated by commas"),
    since: instantText.optional(),
    until: instantText.optional(),
    endedSince: instantText.optional().describe("Only runs that ended then or later"),
    endedUntil: instantText.optional().describe("Only runs that ended before then"),
    totals: z
      .enum(["true"])
      .optional()
      .describe("With the first page, by key and not narrowed: the numbers over it, of the same reading"),
    before: beforeField,
    limit: z.coerce.number().int().min(1).max(groupsMax).default(groupsMax),
  },
  answer: z.object({
    groups: z.array(groupItem).describe("By key, and run by run; newest first"),
    functions: z.array(functionGroup).describe("By function"),
    events: z.array(eventGroup).describe("By event; newest first"),
    pinned: z
      .object({
        groups: z.array(groupItem).describe(`The newest ${pinnedMax}`),
        count: z.number().int(),
        isAll: z.boolean().describe("False when there are more than were counted"),
      })
      .nullable()
      .describe("With order=attention, on the first page: groups in which something slipped through"),
    matching: z
      .object({ count: z.number().int(), since: z.number().int().nullable().describe("Where what is counted begins") })
      .nullable()
      .describe(
        "How many runs fit the filter, on the first page of one by state; null where that is not known exactly",
      ),
    ordered: z
      .object({ count: z.number().int(), since: z.number().int().describe("When the oldest of them was created") })
      .nullable()
      .describe(
        `In an order by length or start: only the newest ${sortedMax.toLocaleString("en")} runs were put in order, not all that fit; null where all were`,
      ),
    totals: totalsItem.nullable().describe("As /api/totals; where `totals` asks for them"),
    next: nextField,
    isPartial: partialField,
    lookedBackTo: lookedBackToField,
  }),
  handle: async ({ query, engine, env, now }) => {
    const work = pageWork(engine);
    const { group, order, fn, key, before, show, limit, state, event, q, cel } = query;
    const { reads } = engine.store;
    if (key !== undefined && fn === undefined) {
      throw errors.REQUEST_INVALID({
        why: 'query parameter "key": a key is unique inside its function only; give "fn" as well',
      });
    }
    const nothing = {
      ...{ groups: [], functions: [], events: [], pinned: null, totals: null },
      ...{ matching: null, next: null, isPartial: false, lookedBackTo: null, ordered: null },
    };
    if (isRunOrder(order) && group !== "none") {
      throw errors.REQUEST_INVALID({ why: `query parameter "order": ${order} is an order of runs; give "group=none"` });
    }
    const { bounds: ended, ends } = await endedRange(reads, env, query, now);
    const { since, until } = boundsOf(query, now);
    const range = {
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...ended,
    };
    const ofFunction = fn === undefined ? {} : { fn };
    if (group === "event") {
      return {
        ...nothing,
        ...(await eventGroups(reads, env, { ...range, ...(event === undefined ? {} : { event }), before, limit })),
      };
    }
    const functions = await knownFunctions(reads, env);
    if (group === "function") {
      return { ...nothing, functions: await functionGroups(engine, env, functions, { ...range, ...ofFunction }, now) };
    }
    const telling = { engine, env, functions, now };
    const reading = { reads, env, functions, work };
    if (query.ids !== undefined) {
      const ids = await withUncounted(reads, env, query.ids.split(",").slice(0, groupsMax), now);
      const groups = judgeAll(await gatherGroups(reading, ids), functions);
      return { ...nothing, groups: await tellGroups(groups, telling) };
    }
    const isNarrowed = [state, query.endedSince, query.endedUntil, key, event, q, cel].some(
      (given) => given !== undefined,
    );
    const asked = { ...range, ...ofFunction };
    // Known without reading history; what narrows them further is looked for in it.
    if (show === "doubled" && group === "key" && !isNarrowed) {
      const slipped = await slippedNow(engine, env, functions, asked, now);
      const found = await loudGroups(reading, slipped, { limit, before });
      const groups = judgeAll(found.groups, functions);
      return { ...nothing, groups: await tellGroups(groups, telling), next: found.next };
    }
    const matching = before === undefined ? await matchingRuns(reads, env, query, now, ends) : null;
    if (ended === null) return { ...nothing, matching };
    const isWhole = group === "key" && show === undefined && !isNarrowed;
    const isPinned = order === "attention" && isWhole;
    const tally =
      isWhole && query.totals === "true" && before === undefined
        ? await tallyOf(reads, env, functions, totalsRange(query, now))
        : null;
    const known = tally?.slipped ?? (isPinned ? await slippedSoFar(reads, env, functions, asked, now) : null);
    const filter: GroupFilter = {
      ...range,
      ...ofFunction,
      ...(state === undefined ? {} : { state }),
      ...(key === undefined ? {} : { key: await functionKeyOf(reads, env, fn!, key) }),
      ...(event === undefined ? {} : { event }),
      ...(q === undefined ? {} : { q }),
      ...(cel === undefined ? {} : { cel }),
      ...(show === undefined ? {} : { show }),
      ...(before === undefined ? {} : { before }),
      limit,
      pinned: isPinned ? loudIds(known!) : new Set(),
      isFlat: group === "none",
      ...(isRunOrder(order) ? { order } : {}),
    };
    const page = await groupPage(engine, functions, filter, now, work);
    const seen = tally === null ? null : withLoud(tally, page.loud);
    const totals = seen === null ? null : tellTotals(seen, now);
    const { next, isPartial, lookedBackTo, lookedAt: ordered } = page;
    if (!isPinned || before !== undefined) {
      const groups = await tellGroups(page.groups, telling);
      return { ...nothing, matching, groups, totals, next, isPartial, lookedBackTo, ordered };
    }
    const slipped = seen?.slipped ?? withSeen(known!, page.loud, asked);
    const pins = await pinsOf(slipped, page.loud, reading);
    const listed = page.groups.filter(({ judged }) => !judged.isLoud);
    const told = await tellGroups([...pins, ...listed], telling);
    return {
      ...nothing,
      groups: told.slice(pins.length),
      pinned: { groups: told.slice(0, pins.length), count: loudCount(slipped), isAll: slipped.isAll },
      totals,
      next,
      isPartial,
      lookedBackTo,
    };
  },
});

/** The newest that slipped through; those of the page as it shows them, which is later than anybody counted or paired. */
async function pinsOf(
  slipped: SlippedRuns,
  loud: readonly JudgedGroup[],
  reading: GroupReading,
): Promise<readonly JudgedGroup[]> {
  const { groups } = await loudGroups(reading, slipped, { limit: pinnedMax });
  const shown = new Set(loud.flatMap(({ group }) => group.runs.map(({ id }) => id)));
  const others = groups.filter(({ runs }) => !runs.some(({ id }) => shown.has(id)));
  return [...loud, ...judgeAll(others, reading.functions)]
    .sort((a, b) => (newestOf(a.group) < newestOf(b.group) ? 1 : -1))
    .slice(0, pinnedMax);
}
