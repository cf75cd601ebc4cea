// GET /api/stories: whatever id, key or value somebody has at hand, and why it ran, did not run, or ran twice.
import { z } from "zod";
import type { Engine } from "../../engine/engine.ts";
import { functionScope } from "../../model/claim.ts";
import type { Event } from "../../model/event.ts";
import { findEvent } from "../../sdk/find-subject.ts";
import { apiRoute } from "../api/api-route.ts";
import { functionKeyOf } from "../api/key-shape.ts";
import { examplesIn, findSubjects, runsWith, severalSentence } from "../stories/find-subjects.ts";
import { caseOfEvent, caseOfRun, functionOf, namesIn } from "../stories/gather-case.ts";
import { type Story, type StoryAnswer, type StoryHit, storyAnswer } from "../stories/story.ts";
import { tellStory } from "../stories/tell-story.ts";

const nothing =
  "Nothing has this id or key. Keys are kept until their window ends, runs for as long as this server keeps them.";

export const tellStoryOf = apiRoute({
  method: "GET",
  path: "/api/stories",
  summary: "Find what an id, a key or a value names, and tell why it ran, did not run, or ran twice",
  tag: "explain",
  query: {
    q: z
      .string()
      .min(1)
      .max(2_048)
      .describe("Of a run, an event, a key, or a value in the data of a function without one"),
    as: z.enum(["run", "event", "key", "entity"]).optional().describe("One of the hits of an answer before"),
    function: z.string().min(1).max(256).optional().describe("Of a key or a value"),
  },
  answer: storyAnswer,
  handle: async ({ query: { q, as, function: fn }, engine }): Promise<StoryAnswer> => {
    const none = async (): Promise<StoryAnswer> => ({
      kind: "none",
      sentence: nothing,
      examples: await examplesIn(engine),
    });
    if (as !== undefined) return (await storyOf(engine, { as, id: q, function: fn ?? null, words: "" })) ?? none();
    const found = await findSubjects(engine, q);
    const hits = [...found.exact, ...found.partial].filter((hit) => fn === undefined || hit.function === fn);
    const [only] = found.exact.length === 1 ? found.exact : hits;
    if (only === undefined) return none();
    if (found.exact.length !== 1 && hits.length > 1) {
      return { kind: "several", sentence: severalSentence(q, found), hits };
    }
    return (await storyOf(engine, only)) ?? none();
  },
});

async function storyOf(engine: Engine, { as, id, function: fn }: StoryHit): Promise<Story | null> {
  const { store, env } = engine;
  const nameOf = await namesIn(engine);
  if (as === "run") {
    const run = await store.reads.run(env, id);
    return run === null ? null : tellStory(await caseOfRun(engine, run), `run of ${nameOf(run.fn)}`);
  }
  if (as === "event") {
    const event = await findEvent(engine, id);
    return event === null ? null : storyOfEvent(engine, event);
  }
  if (fn === null) return null;
  const name = nameOf(fn);
  if (as === "entity") {
    const found = await runsWith(engine, fn, id);
    const run = found === null ? null : await store.reads.run(env, found.runIds.at(-1)!);
    return run === null ? null : tellStory(await caseOfRun(engine, run), `${found!.field} of ${name}`);
  }
  const key = await functionKeyOf(store.reads, env, fn, id);
  const holder = (await store.reads.claim(env, functionScope(fn), key))?.holder ?? null;
  const runId =
    holder ?? (await store.reads.runPage(env, { fn, key, limit: 1, examinedMax: 1_000 })).rows[0]?.id ?? null;
  const run = runId === null ? null : await store.reads.run(env, runId);
  if (run !== null) return tellStory(await caseOfRun(engine, run), `key of ${name}`);
  const free = {
    runs: [],
    asked: null,
    decisions: [],
    duplicates: [],
    claim: null,
    guess: null,
    alert: null,
    source: null,
  };
  return tellStory({ ...free, function: await functionOf(engine, fn), key }, `key of ${name}`);
}

/** By the function for which most came of it: the one that has a run, else the first that was decided. */
async function storyOfEvent(engine: Engine, event: Event): Promise<Story> {
  const { store, env } = engine;
  const decisions = await store.reads.decisionsOfEvent(env, event.firstEventId ?? event.id);
  const decision = decisions.find(({ runId }) => runId !== null) ?? decisions[0] ?? null;
  const run = decision?.runId == null ? null : await store.reads.run(env, decision.runId);
  const told = run === null ? await caseOfEvent(engine, event, decision) : await caseOfRun(engine, run, event);
  return tellStory(told, `event ${event.name}`);
}
