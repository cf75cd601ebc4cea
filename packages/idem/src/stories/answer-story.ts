// Whatever id, key or value somebody has at hand, and why it ran, did not run, or ran twice.
import type { Engine } from "../engine/engine.ts";
import { functionScope } from "../model/claim.ts";
import type { Event } from "../model/event.ts";
import { findEvent } from "../observe/find-event.ts";
import { functionKeyOf } from "../observe/function-key.ts";
import { examplesIn, findSubjects, runsWith, severalSentence } from "./find-subjects.ts";
import { caseOfEvent, caseOfFreeKey, caseOfRun, namesIn } from "./gather-case.ts";
import type { Story, StoryAnswer, StorySubject, SubjectKind } from "./story.ts";
import { tellStory } from "./tell-story.ts";

const nothing =
  "Nothing has this id or key. Keys are kept until their window ends, runs for as long as history is kept.";

export interface StoryAsked {
  readonly q: string;
  /** One of the hits of an answer before. */
  readonly as?: SubjectKind | undefined;
  /** Of a key or a value: the function's full name. */
  readonly function?: string | undefined;
}

export async function answerStory(engine: Engine, { q, as, function: fn }: StoryAsked): Promise<StoryAnswer> {
  const none = async (): Promise<StoryAnswer> => ({
    kind: "none",
    sentence: nothing,
    examples: await examplesIn(engine),
  });
  if (as !== undefined) return (await storyOf(engine, { as, id: q, function: fn ?? null })) ?? none();
  const found = await findSubjects(engine, q);
  const hits = [...found.exact, ...found.partial].filter((hit) => fn === undefined || hit.function === fn);
  const [only] = found.exact.length === 1 ? found.exact : hits;
  if (only === undefined) return none();
  if (found.exact.length !== 1 && hits.length > 1) {
    return { kind: "several", sentence: severalSentence(q, found), hits };
  }
  return (await storyOf(engine, only)) ?? none();
}

/** Null when there is no such thing. */
export async function storyOf(engine: Engine, { as, id, function: fn }: StorySubject): Promise<Story | null> {
  const { store, env } = engine;
  const nameOf = await namesIn(engine);
  const subject: StorySubject = { as, id, function: as === "run" || as === "event" ? null : fn };
  if (as === "run") {
    const run = await store.reads.run(env, id);
    return run === null ? null : tellStory(await caseOfRun(engine, run), subject, `run of ${nameOf(run.fn)}`);
  }
  if (as === "event") {
    const event = await findEvent(engine, id);
    return event === null ? null : storyOfEvent(engine, event, { ...subject, id: event.id });
  }
  if (fn === null) return null;
  const name = nameOf(fn);
  if (as === "entity") {
    const found = await runsWith(engine, fn, id);
    const run = found === null ? null : await store.reads.run(env, found.runIds.at(-1)!);
    return run === null ? null : tellStory(await caseOfRun(engine, run), subject, `${found!.field} of ${name}`);
  }
  const key = await functionKeyOf(store.reads, env, fn, id);
  const holder = (await store.reads.claim(env, functionScope(fn), key))?.holder ?? null;
  const runId =
    holder ?? (await store.reads.runPage(env, { fn, key, limit: 1, examinedMax: 1_000 })).rows[0]?.id ?? null;
  const run = runId === null ? null : await store.reads.run(env, runId);
  const told = run === null ? await caseOfFreeKey(engine, fn, key) : await caseOfRun(engine, run);
  return tellStory(told, subject, `key of ${name}`);
}

/** By the function for which most came of it: the one that has a run, else the first that was decided. */
async function storyOfEvent(engine: Engine, event: Event, subject: StorySubject): Promise<Story> {
  const { store, env } = engine;
  const decisions = await store.reads.decisionsOfEvent(env, event.firstEventId ?? event.id);
  const decision = decisions.find(({ runId }) => runId !== null) ?? decisions[0] ?? null;
  const run = decision?.runId == null ? null : await store.reads.run(env, decision.runId);
  const told = run === null ? await caseOfEvent(engine, event, decision) : await caseOfRun(engine, run, event);
  return tellStory(told, subject, `event ${event.name}`);
}
