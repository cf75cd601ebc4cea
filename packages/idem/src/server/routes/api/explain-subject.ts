// GET /api/explain: any id, key or value at hand, and why it ran, did not run, or ran twice.
import { z } from "zod";
import { outlookOf } from "../../../engine/outlook.ts";
import { errors } from "../../../model/errors.ts";
import { explainEvent, explainKey, explainRun } from "../../../observe/explain.ts";
import { findEvent } from "../../../observe/find-event.ts";
import { functionKeyOf } from "../../../observe/function-key.ts";
import { answerStory } from "../../../stories/answer-story.ts";
import { type StorySubject, subjectKinds } from "../../../stories/story.ts";
import { storyLines } from "../../../stories/story-text.ts";
import { type ApiCall, apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { eventItem, wholeEventItemOf } from "../../api/event-shape.ts";
import { cancelItem, lineItem, pendingItem } from "../../api/outlook-shape.ts";
import { runItem, wholeRunItemOf } from "../../api/run-shape.ts";
import { storyHit, storyItem } from "../../api/story-shape.ts";

const eventRows = z.object({
  kind: z.literal("event"),
  event: eventItem,
  first: eventItem.nullable(),
  duplicates: z.array(eventItem),
  decisions: z.array(explainedDecision),
  pending: z.array(pendingItem).describe("The functions that have not decided it yet"),
});
const runRows = z.object({
  kind: z.literal("run"),
  run: runItem,
  event: eventItem.nullable(),
  events: z.array(eventItem).describe("All that it carries: more than one only in a batch"),
  line: z.array(lineItem).describe("The limits it has to pass; empty for a run that does not stand in line"),
  cancelOn: z.array(cancelItem).describe("The events that would cancel it"),
  spared: z.array(explainedDecision),
});
const keyRows = z.object({
  kind: z.literal("key"),
  function: z.string(),
  key: z.string(),
  holder: runItem.nullable(),
  earlier: z.array(runItem),
  spared: z.array(explainedDecision),
  askedCount: z.number().int(),
  takenAt: z.number().int().nullable(),
  windowEndsAt: z.number().int().nullable(),
  isTaken: z.boolean(),
});

const query = {
  q: z
    .string()
    .min(1)
    .max(2_048)
    .describe("Of a run, an event, a key, or a value in the data of a function without one"),
  as: z.enum(subjectKinds).optional().describe("What it is, where that is known; one of the hits of an answer before"),
  function: z.string().min(1).max(256).optional().describe("Of a key or a value"),
  rows: z.literal("true").optional().describe("With the rows it is told from"),
};
type Call = ApiCall<typeof query, Record<never, never>>;

const answer = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("story"),
    story: storyItem,
    summary: z.array(z.string()).describe("The story in lines: verdict, gates, what happened, what to do"),
    rows: z
      .discriminatedUnion("kind", [eventRows, runRows, keyRows])
      .nullable()
      .describe("Where they were asked for; null for a value in the data, which several runs are about"),
  }),
  z.object({ kind: z.literal("several"), sentence: z.string(), hits: z.array(storyHit) }),
  z.object({ kind: z.literal("none"), sentence: z.string(), examples: z.array(storyHit) }),
]);

export const explainSubject = apiRoute({
  method: "GET",
  path: "/api/explain",
  summary: "Find what an id, a key or a value names, and tell why it ran, did not run, or ran twice",
  tag: "explain",
  query,
  answer,
  handle: async (call): Promise<z.input<typeof answer>> => {
    const { as, function: fn } = call.query;
    if ((as === "key" || as === "entity") && fn === undefined) {
      throw errors.REQUEST_INVALID({
        why: 'query parameter "as": a key is unique inside its function only; give "function" as well',
      });
    }
    const told = await answerStory(call.engine, call.query);
    switch (told.kind) {
      case "story":
        return {
          kind: "story",
          story: told,
          summary: storyLines(told),
          rows: call.query.rows === undefined ? null : await rowsOf(call, told.subject),
        };
      case "several":
        return { ...told, hits: [...told.hits] };
      case "none":
        return { ...told, examples: [...told.examples] };
    }
  },
});

/** Throws SUBJECT_UNKNOWN for what was there a moment ago: pruned meanwhile. */
async function rowsOf(call: Call, { as, id, function: fn }: StorySubject) {
  switch (as) {
    case "run":
      return rowsOfRun(call, id);
    case "event":
      return rowsOfEvent(call, id);
    case "key":
      return rowsOfKey(call, fn!, id);
    case "entity":
      return null;
  }
}

async function rowsOfEvent({ engine, env }: Call, id: string): Promise<z.infer<typeof eventRows>> {
  const found = await findEvent(engine, id);
  if (found === null) throw errors.SUBJECT_UNKNOWN({ id });
  const told = await explainEvent(engine.store.reads, env, found, outlookOf(engine));
  return {
    kind: "event",
    event: wholeEventItemOf(told.event),
    first: told.first === null ? null : wholeEventItemOf(told.first),
    duplicates: told.duplicates.map(wholeEventItemOf),
    decisions: told.decisions.map(explainedDecisionOf),
    pending: told.pending.map(({ fn, buffer }) => ({ function: fn, buffer })),
  };
}

async function rowsOfRun({ engine, env }: Call, id: string): Promise<z.infer<typeof runRows>> {
  const run = await engine.store.reads.run(env, id);
  if (run === null) throw errors.SUBJECT_UNKNOWN({ id });
  const told = await explainRun(engine.store.reads, env, run, outlookOf(engine));
  return {
    kind: "run",
    run: wholeRunItemOf(told.run),
    event: told.event === null ? null : wholeEventItemOf(told.event),
    events: told.events.map(wholeEventItemOf),
    line: [...told.line],
    cancelOn: [...told.cancelOn],
    spared: told.spared.map(explainedDecisionOf),
  };
}

async function rowsOfKey({ engine, env, now }: Call, fn: string, typed: string): Promise<z.infer<typeof keyRows>> {
  const { reads } = engine.store;
  const key = await functionKeyOf(reads, env, fn, typed);
  const told = await explainKey(reads, env, fn, key, now);
  return {
    kind: "key",
    function: fn,
    key,
    holder: told.holder === null ? null : wholeRunItemOf(told.holder),
    earlier: told.earlier.map(wholeRunItemOf),
    spared: told.spared.map(explainedDecisionOf),
    askedCount: told.askedCount,
    takenAt: told.takenAt,
    windowEndsAt: told.windowEndsAt,
    isTaken: told.isOpen,
  };
}
