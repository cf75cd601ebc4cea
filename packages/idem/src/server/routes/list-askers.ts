// GET /api/groups/:group/askers: everybody who asked for a group, in order, with what was decided.
import { z } from "zod";
import { type Decision, decisionKinds } from "../../model/decision.ts";
import { errors } from "../../model/errors.ts";
import { decisionSentence } from "../../observe/explain-decision.ts";
import { apiRoute } from "../api/api-route.ts";
import { groupItem } from "../api/group-shape.ts";
import { knownFunctions } from "../groups/functions-known.ts";
import { gatherGroups, type Link } from "../groups/gather-groups.ts";
import { judgeAll, tellGroups } from "../groups/tell-group.ts";

// Of each run: a hot key has a million askers, and nobody reads them.
const duplicatesMax = 200;
const runsMax = 50;
// How far around a run of a function without a key others about the same thing are looked for.
const aroundMs = 60_000;
const aroundMax = 200;

export const listAskers = apiRoute({
  method: "GET",
  path: "/api/groups/:group/askers",
  summary: "List everybody who asked for a group, in order, with what was decided",
  tag: "runs",
  answer: z.object({
    group: groupItem,
    askers: z.array(
      z.object({
        at: z.number().int(),
        eventId: z.string(),
        runId: z.string().nullable().describe("The run it started, or that answers for it"),
        place: z.enum(["first", "slipped", "maybe", "rerun", "suppressed"]),
        kind: z.enum(decisionKinds).nullable().describe("Null for a rerun: a person asked"),
        sentence: z.string(),
      }),
    ),
    isAll: z.boolean().describe("False when there were more than are listed"),
  }),
  handle: async ({ params, engine, env, now }) => {
    const { reads } = engine.store;
    const run = await reads.run(env, params.group!);
    if (run === null) throw errors.RUN_UNKNOWN({ runId: params.group! });
    const functions = await knownFunctions(reads, env);
    const isKeyless = run.key === null && functions.of(run.fn).key === null;
    const around = isKeyless
      ? await reads.runPage(env, {
          fn: run.fn,
          since: run.createdAt - aroundMs,
          until: run.createdAt + aroundMs,
          limit: aroundMax,
          examinedMax: aroundMax,
        })
      : null;
    const links = isKeyless ? await linksOf(run.id) : [];
    const ids = new Set([
      run.id,
      ...(around?.rows ?? []).map(({ id }) => id),
      ...links.flatMap(({ firstId, laterId }) => [firstId, laterId]),
    ]);
    const gathered = await gatherGroups(reads, env, [...ids], functions, links);
    const own = gathered.find(({ runs }) => runs.some(({ id }) => id === run.id))!;
    const [found] = judgeAll([own], functions);
    const [group] = await tellGroups([found!], { engine, env, functions, now });
    const runs = found!.judged.runs.slice(0, runsMax);
    const [decisions, duplicates] = await Promise.all([
      Promise.all(runs.map(({ run: each }) => reads.decisionsOfEvent(env, each.eventId))),
      Promise.all(runs.map(({ run: each }) => reads.duplicatesOfRun(env, each.id, duplicatesMax))),
    ]);
    const sentence = (decision: Decision) => decisionSentence({ ...decision, differs: [] }, run.fn, null);
    const started = runs.map(({ run: each, place }, i) => {
      const decision = decisions[i]!.find(({ fn }) => fn === each.fn);
      const isRerun = place === "rerun";
      return {
        at: each.createdAt,
        eventId: each.eventId,
        runId: each.id,
        place,
        kind: isRerun ? null : (decision?.kind ?? null),
        sentence: isRerun
          ? `A person asked for run ${each.id}, a rerun of ${each.rerunOf}.`
          : decision === undefined
            ? `"${each.fn}" started run ${each.id}.`
            : sentence(decision),
      };
    });
    const suppressed = duplicates.flat().flatMap((decision) =>
      decision.kind === "duplicate-event" || decision.kind === "duplicate-key"
        ? {
            at: decision.decidedAt,
            eventId: decision.eventId,
            runId: decision.runId,
            place: "suppressed" as const,
            kind: decision.kind,
            sentence: sentence(decision),
          }
        : [],
    );
    return {
      group: group!,
      askers: [...started, ...suppressed].sort((a, b) => a.at - b.at || (a.eventId < b.eventId ? -1 : 1)),
      isAll: found!.judged.runs.length <= runsMax && duplicates.every((some) => some.length < duplicatesMax),
    };

    /** What the radar found about this run: pairs further apart than are looked for here. */
    async function linksOf(runId: string): Promise<Link[]> {
      const about = functions.doubled.filter(({ kind, fn }) => kind === "doubled-runs" && fn === run!.fn);
      const pairs = await Promise.all(about.map(({ id }) => reads.alertPairs(env, id, { limit: 1_000 })));
      return about.flatMap((alert, i) => {
        const entity = pairs[i]!.find(({ firstId, laterId }) => firstId === runId || laterId === runId)?.entity;
        if (entity === undefined) return [];
        return pairs[i]!.flatMap(({ entity: of, firstId, laterId }) =>
          of === entity && firstId !== null ? { firstId, laterId, guess: { expression: alert.subject, entity } } : [],
        );
      });
    }
  },
});
