// GET /api/groups: what ran, one line per key: runs that share a window, doubled ones first.
import { z } from "zod";
import { errors } from "../../model/errors.ts";
import { apiRoute } from "../api/api-route.ts";
import { eventGroup, eventGroups } from "../api/event-groups.ts";
import { functionGroup, functionGroups } from "../api/function-groups.ts";
import { groupItem } from "../api/group-shape.ts";
import { functionKeyOf } from "../api/key-shape.ts";
import { beforeField, boundsOf, nextField } from "../api/paging.ts";
import { runStates } from "../api/run-shape.ts";
import { knownFunctions } from "../groups/functions-known.ts";
import { gatherGroups } from "../groups/gather-groups.ts";
import { type GroupFilter, groupPage } from "../groups/group-page.ts";
import { loudGroups, slippedRuns } from "../groups/loud-groups.ts";
import { judgeAll, tellGroups } from "../groups/tell-group.ts";
import { instantText } from "../read-input.ts";

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
      .enum(["attention", "newest"])
      .default("attention")
      .describe("`attention`: groups in which something slipped through come apart, in `pinned`"),
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
    next: nextField,
  }),
  handle: async ({ query, engine, env, now }) => {
    const { group, order, fn, key, before, show, limit, state, event, q, cel } = query;
    const { reads } = engine.store;
    if (key !== undefined && fn === undefined) {
      throw errors.REQUEST_INVALID({
        why: 'query parameter "key": a key is unique inside its function only; give "fn" as well',
      });
    }
    const nothing = { groups: [], functions: [], events: [], pinned: null, next: null };
    const { since, until } = boundsOf(query, now);
    const range = { ...(since === undefined ? {} : { since }), ...(until === undefined ? {} : { until }) };
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
    if (query.ids !== undefined) {
      const ids = query.ids.split(",").slice(0, groupsMax);
      const groups = judgeAll(await gatherGroups(reads, env, ids, functions), functions);
      return { ...nothing, groups: await tellGroups(groups, telling) };
    }
    const isNarrowed = [state, key, event, q, cel].some((given) => given !== undefined);
    const isPinned = order === "attention" && group === "key" && show === undefined && !isNarrowed;
    const loud = () => slippedRuns(reads, env, functions, { ...range, ...ofFunction });
    if (show === "doubled") {
      const found = await loudGroups(reads, env, functions, await loud(), { limit, before });
      const groups = judgeAll(found.groups, functions);
      return { ...nothing, groups: await tellGroups(groups, telling), next: found.next };
    }
    const slipped = isPinned ? await loud() : null;
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
      pinned: new Set(slipped?.runs.flatMap(({ firstId, laterId }) => [firstId, laterId])),
      isFlat: group === "none",
    };
    const hasPins = slipped !== null && before === undefined;
    const [page, known] = await Promise.all([
      groupPage(engine, env, functions, filter, now),
      hasPins ? loudGroups(reads, env, functions, slipped, { limit: pinnedMax }) : null,
    ]);
    if (known === null) return { ...nothing, groups: await tellGroups(page.groups, telling), next: page.next };
    // What nobody has counted or paired yet is seen here first.
    const fresh = page.groups.filter(({ judged }) => judged.isLoud);
    const pins = [...fresh, ...judgeAll(known.groups, functions)].slice(0, pinnedMax);
    const listed = page.groups.filter(({ judged }) => !judged.isLoud);
    const told = await tellGroups([...pins, ...listed], telling);
    return {
      ...nothing,
      groups: told.slice(pins.length),
      pinned: { groups: told.slice(0, pins.length), count: known.count + fresh.length, isAll: slipped!.isAll },
      next: page.next,
    };
  },
});
