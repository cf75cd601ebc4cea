// GET /api/runs/:run: one run with its timeline, and what it spared.
import { z } from "zod";
import type { Engine } from "../../../engine/engine.ts";
import { outlookOf } from "../../../engine/outlook.ts";
import { errors } from "../../../model/errors.ts";
import { traceIdOf, traceOf } from "../../../protocol/traceparent.ts";
import type { RunMemo } from "../../../store/leases.ts";
import type { StoreReads } from "../../../store/reads.ts";
import { apiRoute } from "../../api/api-route.ts";
import { decisionItem, decisionItemOf } from "../../api/decision-shape.ts";
import { eventDetail, eventDetailOf, eventItem, wholeEventItemOf } from "../../api/event-shape.ts";
import { cancelItem, lineItem } from "../../api/outlook-shape.ts";
import { PayloadBudget } from "../../api/payloads.ts";
import { familyOf, runFamily } from "../../api/run-family.ts";
import { runDetail, runDetailOf, shownInputBytesMax } from "../../api/run-shape.ts";
import { tracePlace } from "../../settings.ts";

const sparedShown = 100;

async function processesOf(reads: StoreReads, timeline: z.infer<typeof runDetail>["timeline"]) {
  const asked = new Set(timeline.flatMap(({ attempts }) => attempts.flatMap(({ worker }) => worker ?? [])));
  if (asked.size === 0) return {};
  const known = (await reads.workers()).filter(({ id, node }) => node !== null && asked.has(id));
  return Object.fromEntries(known.map(({ id, node }) => [id, node!]));
}

/** Its event's, where it was traced; else that of the calls to its app. */
function traceOfRun({ registry }: Engine, { run, event }: RunMemo, traceUrl: string | undefined) {
  const kept = traceOf(event);
  if (kept === null && registry.get(run.fn)?.config.runtime === undefined) return null;
  const id = kept?.traceId ?? traceIdOf(run.id);
  return { id, url: traceUrl?.replaceAll(tracePlace, id) ?? null };
}

export const readRun = apiRoute({
  method: "GET",
  path: "/api/runs/:run",
  summary: "Read a run with its timeline",
  tag: "runs",
  answer: z.object({
    run: runDetail.extend({
      line: z.array(lineItem).describe("The limits it has to pass; empty for a run that does not stand in line"),
      cancelOn: z.array(cancelItem).describe("The events that would cancel it"),
    }),
    event: eventItem,
    ...runFamily,
    hasOtherData: z
      .boolean()
      .describe("A person gave it other data than its event has; what it runs with is at /api/runs/:run/input"),
    trace: z
      .object({ id: z.string(), url: z.string().nullable().describe("Where people read it, if the server was told") })
      .nullable()
      .describe("The W3C trace its event came in, or that of the calls to its app; null where there is neither"),
    codeNow: z.string().nullable().describe("Fingerprint of the function's code as it is registered now"),
    events: z.array(eventDetail).describe("What it carries: more than one only in a batch"),
    spared: z.array(decisionItem).describe("The first hundred decisions that were answered with this run"),
    workers: z
      .record(z.string(), z.string())
      .describe("The processes behind the workers of its attempts, as far as they are still known"),
  }),
  handle: async ({ params, engine, env, world }) => {
    const { reads } = engine.store;
    const memo = await reads.runMemo(env, params.run!);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: params.run! });
    const spared = await reads.duplicatesOfRun(env, memo.run.id, sparedShown);
    const budget = new PayloadBudget();
    const outlook = outlookOf(engine);
    const given = await reads.stepInputs(env, memo.run.id, shownInputBytesMax);
    const run = runDetailOf(memo, given, await reads.metadata(env, memo.run.id), env, budget);
    return {
      run: {
        ...run,
        line: [...(await outlook.line(memo.run, memo.event))],
        cancelOn: [...(await outlook.cancels(memo.run))],
      },
      event: wholeEventItemOf(memo.event),
      ...(await familyOf(reads, env, memo, given)),
      hasOtherData: memo.hasOtherData === true,
      trace: traceOfRun(engine, memo, world.settings.traceUrl),
      codeNow: engine.registry.get(memo.run.fn)?.code ?? null,
      events: memo.events.map((event) => eventDetailOf(event, budget)),
      spared: spared.map(decisionItemOf),
      workers: await processesOf(reads, run.timeline),
    };
  },
});
