// GET /api/explain: why something ran, did not run, or ran once although it was asked for twice.
import { z } from "zod";
import { outlookOf } from "../../../engine/outlook.ts";
import { errors } from "../../../model/errors.ts";
import type { Run } from "../../../model/run.ts";
import { explainEvent, explainKey, explainRun } from "../../../observe/explain.ts";
import { findEvent } from "../../../observe/find-event.ts";
import { functionKeyOf } from "../../../observe/function-key.ts";
import { storyOf } from "../../../stories/answer-story.ts";
import type { StorySubject } from "../../../stories/story.ts";
import { storyLines } from "../../../stories/story-text.ts";
import { type ApiCall, apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { eventItem, wholeEventItemOf } from "../../api/event-shape.ts";
import { cancelItem, lineItem, pendingItem } from "../../api/outlook-shape.ts";
import { runItem, wholeRunItemOf } from "../../api/run-shape.ts";
import { storyItem } from "../../api/story-shape.ts";

const told = {
  summary: z.array(z.string()).describe("The story in lines: verdict, gates, what happened, what to do"),
  story: storyItem,
};

const eventStory = z.object({
  kind: z.literal("event"),
  ...told,
  event: eventItem,
  first: eventItem.nullable(),
  duplicates: z.array(eventItem),
  decisions: z.array(explainedDecision),
  pending: z.array(pendingItem).describe("The functions that have not decided it yet"),
});
const runStory = z.object({
  kind: z.literal("run"),
  ...told,
  run: runItem,
  event: eventItem.nullable(),
  events: z.array(eventItem).describe("All that it carries: more than one only in a batch"),
  line: z.array(lineItem).describe("The limits it has to pass; empty for a run that does not stand in line"),
  cancelOn: z.array(cancelItem).describe("The events that would cancel it"),
  spared: z.array(explainedDecision),
});
const keyStory = z.object({
  kind: z.literal("key"),
  ...told,
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

const idField = z.string().min(1).max(1_024).optional();
const query = {
  id: idField.describe("Of a run or an event, whichever has it"),
  run: idField,
  event: idField.describe("Its stored id, or its sender's"),
  function: z.string().min(1).max(256).optional().describe("With key"),
  key: z.string().min(1).max(2_048).optional(),
};
type Call = ApiCall<typeof query, Record<never, never>>;

export const explainSubject = apiRoute({
  method: "GET",
  path: "/api/explain",
  summary: "Tell the story of an event, a run, or a function's key",
  tag: "explain",
  query,
  answer: z.discriminatedUnion("kind", [eventStory, runStory, keyStory]),
  handle: async (call) => {
    const { id, run, event, function: fn, key } = call.query;
    const asked = [id, run, event, fn ?? key].filter((each) => each !== undefined).length;
    if (asked !== 1 || (fn === undefined) !== (key === undefined)) {
      throw errors.REQUEST_INVALID({ why: "give one of id, run, event, or function together with key" });
    }
    if (fn !== undefined) return storyOfKey(call, fn, key!);
    if (event !== undefined) return storyOfEvent(call, event);
    const found = await call.engine.store.reads.run(call.env, (run ?? id)!);
    if (found !== null) return storyOfRun(call, found);
    if (run !== undefined) throw errors.RUN_UNKNOWN({ runId: run });
    return storyOfEvent(call, id!);
  },
});

async function toldOf({ engine }: Call, subject: StorySubject) {
  const story = await storyOf(engine, subject);
  // It was there a moment ago: pruned meanwhile.
  if (story === null) throw errors.SUBJECT_UNKNOWN({ id: subject.id });
  return { summary: storyLines(story), story };
}

async function storyOfEvent(call: Call, id: string): Promise<z.infer<typeof eventStory>> {
  const { engine, env } = call;
  const found = await findEvent(engine, id);
  if (found === null) throw errors.SUBJECT_UNKNOWN({ id });
  const story = await explainEvent(engine.store.reads, env, found, outlookOf(engine));
  return {
    kind: "event",
    ...(await toldOf(call, { as: "event", id: found.id, function: null })),
    event: wholeEventItemOf(story.event),
    first: story.first === null ? null : wholeEventItemOf(story.first),
    duplicates: story.duplicates.map(wholeEventItemOf),
    decisions: story.decisions.map(explainedDecisionOf),
    pending: story.pending.map(({ fn, buffer }) => ({ function: fn, buffer })),
  };
}

async function storyOfRun(call: Call, run: Run): Promise<z.infer<typeof runStory>> {
  const { engine, env } = call;
  const story = await explainRun(engine.store.reads, env, run, outlookOf(engine));
  return {
    kind: "run",
    ...(await toldOf(call, { as: "run", id: run.id, function: null })),
    run: wholeRunItemOf(story.run),
    event: story.event === null ? null : wholeEventItemOf(story.event),
    events: story.events.map(wholeEventItemOf),
    line: [...story.line],
    cancelOn: [...story.cancelOn],
    spared: story.spared.map(explainedDecisionOf),
  };
}

async function storyOfKey(call: Call, fn: string, typed: string): Promise<z.infer<typeof keyStory>> {
  const { engine, env, now } = call;
  const { reads } = engine.store;
  const key = await functionKeyOf(reads, env, fn, typed);
  const story = await explainKey(reads, env, fn, key, now);
  return {
    kind: "key",
    ...(await toldOf(call, { as: "key", id: key, function: fn })),
    function: fn,
    key,
    holder: story.holder === null ? null : wholeRunItemOf(story.holder),
    earlier: story.earlier.map(wholeRunItemOf),
    spared: story.spared.map(explainedDecisionOf),
    askedCount: story.askedCount,
    takenAt: story.takenAt,
    windowEndsAt: story.windowEndsAt,
    isTaken: story.isOpen,
  };
}
