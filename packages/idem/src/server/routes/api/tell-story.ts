// GET /api/stories: whatever id, key or value somebody has at hand, and why it ran, did not run, or ran twice.
import { z } from "zod";
import { answerStory } from "../../../stories/answer-story.ts";
import { subjectKinds } from "../../../stories/story.ts";
import { apiRoute } from "../../api/api-route.ts";
import { storyAnswer } from "../../api/story-shape.ts";

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
    as: z.enum(subjectKinds).optional().describe("One of the hits of an answer before"),
    function: z.string().min(1).max(256).optional().describe("Of a key or a value"),
  },
  answer: storyAnswer,
  handle: ({ query, engine }) => answerStory(engine, query),
});
