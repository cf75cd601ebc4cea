// GET /api/keys/:scope/:key: one claim, who holds it, who held it before and what it answered.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { explainKey } from "../../../observe/explain.ts";
import { storyOf } from "../../../stories/answer-story.ts";
import { storyLines } from "../../../stories/story-text.ts";
import { apiRoute } from "../../api/api-route.ts";
import { explainedDecision, explainedDecisionOf } from "../../api/decision-shape.ts";
import { eventItem, wholeEventItemOf } from "../../api/event-shape.ts";
import { functionOfScope, isEventScope, keyItem, keyItemOf } from "../../api/key-shape.ts";
import { runItem, wholeRunItemOf } from "../../api/run-shape.ts";

const duplicatesShown = 100;

export const readKey = apiRoute({
  method: "GET",
  path: "/api/keys/:scope/:key",
  summary: "Read one key: its holder, who held it before, and whom it answered",
  tag: "keys",
  answer: z.object({
    key: keyItem,
    run: runItem.nullable().describe("The run that holds a function's key"),
    event: eventItem.nullable().describe("The event that holds an event's id"),
    earlier: z.array(runItem).describe("The runs that held it before, newest first"),
    spared: z.array(explainedDecision).describe("Decisions that were answered with the holder"),
    duplicates: z.array(eventItem).describe("Events that came with the same id again"),
    summary: z.array(z.string()),
  }),
  handle: async ({ params, engine, env, now }) => {
    const { reads } = engine.store;
    const { scope, key } = params;
    const claim = await reads.claim(env, scope!, key!);
    if (claim === null) throw errors.KEY_UNKNOWN({ scope: scope!, key: key! });
    const fn = functionOfScope(claim.scope);
    const story = fn === null ? null : await explainKey(reads, env, fn, claim.key, now);
    const told = fn === null ? null : await storyOf(engine, { as: "key", id: claim.key, function: fn });
    const event = isEventScope(claim.scope) ? await reads.event(env, claim.holder) : null;
    const duplicates = event === null ? [] : await reads.duplicatesOf(env, event.id, duplicatesShown);
    return {
      key: keyItemOf(claim, now),
      run: story === null || story.holder === null ? null : wholeRunItemOf(story.holder),
      event: event === null ? null : wholeEventItemOf(event),
      earlier: (story?.earlier ?? []).map(wholeRunItemOf),
      spared: (story?.spared ?? []).map(explainedDecisionOf),
      duplicates: duplicates.map(wholeEventItemOf),
      summary: told === null ? [] : storyLines(told),
    };
  },
});
