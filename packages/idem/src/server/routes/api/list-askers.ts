// GET /api/groups/:group/askers: everybody who asked for a group, in order, with what was decided; a page at a time.
import { z } from "zod";
import { type Decision, decisionKinds } from "../../../model/decision.ts";
import { errors } from "../../../model/errors.ts";
import { isEnded } from "../../../model/run.ts";
import { knownFunctions } from "../../../radar/functions-known.ts";
import type { RunSummary } from "../../../store/reads.ts";
import { decisionSentence } from "../../../stories/decision-words.ts";
import { apiRoute } from "../../api/api-route.ts";
import { groupItem } from "../../api/group-shape.ts";
import { pageWork } from "../../api/paging.ts";
import { gatherGroups, type Link } from "../../groups/gather-groups.ts";
import type { PlaceInGroup } from "../../groups/judge-group.ts";
import { withUncounted } from "../../groups/tally.ts";
import { judgeAll, tellGroups } from "../../groups/tell-group.ts";

const askersMax = 100;
// Runs that are still open after the first; a person cancels them together.
const laterOpenMax = 500;
// Around a run of a function without a key, others about the same thing are looked for this far.
const aroundMs = 60_000;
const aroundMax = 200;

const asker = z.object({
  at: z.number().int(),
  eventId: z.string(),
  runId: z.string().nullable().describe("The run it started, or that answers for it"),
  place: z.enum(["first", "slipped", "maybe", "rerun", "suppressed"]),
  kind: z.enum(decisionKinds).nullable().describe("Null for a rerun: a person asked"),
  sentence: z.string(),
});
export type Asker = z.infer<typeof asker>;

export const listAskers = apiRoute({
  method: "GET",
  path: "/api/groups/:group/askers",
  summary: "List everybody who asked for a group, in order, with what was decided",
  tag: "runs",
  query: {
    after: z.string().min(1).max(64).optional().describe("`next` of the page before"),
    limit: z.coerce.number().int().min(1).max(askersMax).default(askersMax),
  },
  answer: z.object({
    group: groupItem,
    askers: z.array(asker),
    laterOpen: z.array(z.string()).describe(`Runs that slipped through and have not ended, at most ${laterOpenMax}`),
    next: z.string().nullable().describe("Give it as `after` to continue; null when everybody was told"),
  }),
  handle: async ({ params, query: { after = "", limit }, engine, env, now }) => {
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
    const known = [
      run.id,
      ...(run.key === null ? [] : [run.generation]),
      ...(around?.rows ?? []).map(({ id }) => id),
      ...links.flatMap(({ firstId, laterId }) => [firstId, laterId]),
    ];
    const ids = await withUncounted(reads, env, known, now);
    const gathered = await gatherGroups({ reads, env, functions, work: pageWork(engine) }, ids, links);
    const own = gathered.find(({ runs }) => runs.some(({ id }) => id === run.id))!;
    const [found] = judgeAll([own], functions);
    const [group] = await tellGroups([found!], { engine, env, functions, now });
    const { runs } = found!.judged;
    const sentence = (decision: Decision) => decisionSentence(decision, engine.registry.fullName(run.fn));
    const duplicates = await Promise.all(
      (await reads.runStarts(env, own.runs)).flatMap(({ runId, suppressed }) =>
        suppressed === 0 ? [] : reads.duplicatesOfRun(env, runId, limit + 1, after),
      ),
    );
    // By ids, which grow with time: of the event that asked, and of the rerun where a person did.
    const askers: readonly { readonly id: string; readonly tell: () => Asker | Promise<Asker> }[] = [
      ...runs.map(({ run: each, place }) => ({
        id: place === "rerun" ? each.id : each.eventId,
        tell: () => tellRun(each, place),
      })),
      ...duplicates.flat().map((decision) => ({ id: decision.eventId, tell: () => tellDuplicate(decision) })),
    ]
      .filter(({ id }) => id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const page = askers.slice(0, limit);
    return {
      group: group!,
      askers: await Promise.all(page.map(({ tell }) => tell())),
      laterOpen: runs
        .filter(({ run: each, place }) => place === "slipped" && !isEnded(each.state))
        .slice(0, laterOpenMax)
        .map(({ run: each }) => each.id),
      next: askers.length > page.length ? page.at(-1)!.id : null,
    };

    async function tellRun(each: RunSummary, place: PlaceInGroup): Promise<Asker> {
      const told = { at: each.createdAt, eventId: each.eventId, runId: each.id, place };
      if (place === "rerun") {
        return { ...told, kind: null, sentence: `A person asked for run ${each.id}, a rerun of ${each.rerunOf}.` };
      }
      const decision = (await reads.decisionsOfEvent(env, each.eventId)).find(({ fn }) => fn === each.fn);
      return decision === undefined
        ? { ...told, kind: null, sentence: `${engine.registry.fullName(each.fn)} started run ${each.id}.` }
        : { ...told, kind: decision.kind, sentence: sentence(decision) };
    }

    function tellDuplicate(decision: Decision): Asker {
      const { decidedAt: at, eventId, runId, kind } = decision;
      return { at, eventId, runId, place: "suppressed", kind, sentence: sentence(decision) };
    }

    /** The radar's findings about this run: pairs further apart than are looked for here. */
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
