// GET /api/runs/:run/group: the runs of its key, and whether it was one too many.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import type { Run } from "../../../model/run.ts";
import { dayMs } from "../../../model/window.ts";
import { type KnownFunctions, knownFunctions } from "../../../radar/functions-known.ts";
import { nearMs } from "../../../radar/guess-entities.ts";
import type { StoreReads } from "../../../store/reads.ts";
import { apiRoute } from "../../api/api-route.ts";
import { groupItem } from "../../api/group-shape.ts";
import { examinedMax, pageWork } from "../../api/paging.ts";
import { gatherGroups } from "../../groups/gather-groups.ts";
import { withUncounted } from "../../groups/tally.ts";
import { judgeAll, tellGroups } from "../../groups/tell-group.ts";

export const readRunGroup = apiRoute({
  method: "GET",
  path: "/api/runs/:run/group",
  summary: "Read the group a run belongs to: the runs of its key, or of the same thing by our best guess",
  tag: "runs",
  answer: z.object({ group: groupItem }),
  handle: async ({ params, engine, env, now }) => {
    const { reads } = engine.store;
    const run = await reads.run(env, params.run!);
    if (run === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    const functions = await knownFunctions(reads, env);
    const ids = await candidates(reads, env, run, functions, now);
    const groups = await gatherGroups({ reads, env, functions, work: pageWork(engine) }, ids);
    const own = groups.filter(({ runs }) => runs.some(({ id }) => id === run.id));
    const [group] = await tellGroups(judgeAll(own, functions), { engine, env, functions, now });
    return { group: group! };
  },
});

// As many as a page of groups looks at.
const candidatesMax = 100;

/** A run without a key may be about the same thing as one of the runs around it: those before it, as far as a key would reach. */
async function candidates(
  reads: StoreReads,
  env: string,
  run: Run,
  functions: KnownFunctions,
  now: number,
): Promise<readonly string[]> {
  if (run.key !== null || run.rerunOf !== null || functions.of(run.fn).key !== null)
    return withUncounted(reads, env, [run.id, ...(run.key === null ? [] : [run.generation])], now);
  const range = { fn: run.fn, since: run.createdAt - dayMs, until: run.createdAt + nearMs };
  const { rows } = await reads.runPage(env, { ...range, limit: candidatesMax, examinedMax });
  return [run.id, ...rows.flatMap(({ id }) => (id === run.id ? [] : [id]))];
}
