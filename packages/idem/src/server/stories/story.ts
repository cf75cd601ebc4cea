// The story of one thing as /api/stories tells it: a verdict with its because, the four places where a duplicate can be stopped, one
// sentence per fact, and at most three things to do. Things that have a page are named in `nouns` as they stand in the sentences.
import { z } from "zod";
import { runStates } from "../api/run-shape.ts";

export const nounKinds = ["run", "event", "function", "key", "alert", "source"] as const;

const noun = z.object({
  text: z.string().describe("As it stands in the sentences"),
  kind: z.enum(nounKinds),
  id: z.string(),
  scope: z.string().nullable().describe("Of a key: what it is unique within"),
});
export type StoryNoun = z.infer<typeof noun>;

export const gateNames = ["webhook", "event-id", "function-key", "destination-key"] as const;

const gate = z.object({
  gate: z.enum(gateNames),
  state: z
    .enum(["let-through", "stopped", "not-in-use", "nothing-to-stop"])
    .describe("`let-through`: a duplicate passed it · `nothing-to-stop`: it is in use and no duplicate came"),
  reason: z.string(),
});
export type StoryGate = z.infer<typeof gate>;

const fact = z.object({
  at: z.number().int().nullable().describe("Null for what is so now"),
  kind: z.enum([
    "event",
    "first",
    "slipped",
    "suppressed",
    "rerun",
    "completed",
    "failed",
    "waiting",
    "running",
    "queued",
    "cancelled",
    "alert",
    "note",
  ]),
  text: z.string(),
  untilAt: z.number().int().nullable().describe("Of a fact that was repeated: when it happened last"),
});
export type StoryFact = z.infer<typeof fact>;

const todo = z.object({
  text: z.string(),
  does: z.enum(["cancel-run", "add-key", "send-key", "open-run", "open-event", "open-key", "open-function", "compare"]),
  label: z.string().describe("What to write on its button"),
  id: z.string().describe("Of the run, event, key or function it is about"),
  other: z.string().nullable().describe("The other run, or the line to paste"),
});
export type StoryTodo = z.infer<typeof todo>;

const thing = z.object({
  kind: z.enum(["run", "event"]),
  id: z.string(),
  name: z.string(),
  state: z.enum(runStates).nullable().describe("Of a run"),
  words: z.string().describe("What it did here"),
});
export type StoryThing = z.infer<typeof thing>;

export const story = z.object({
  kind: z.literal("story"),
  about: z.string().describe('What was found: "key of draft-invoice"'),
  function: z.string().nullable(),
  tone: z.enum(["doubled", "suppressed", "once", "failed", "waiting", "nothing"]),
  times: z.number().int().describe("How often it ran, reruns left out"),
  title: z.string(),
  detail: z.string(),
  gates: z.array(gate),
  facts: z.array(fact),
  todo: z.array(todo).max(3),
  things: z.array(thing),
  nouns: z.array(noun),
});
export type Story = z.infer<typeof story>;

const hit = z.object({
  as: z.enum(["run", "event", "key", "entity"]),
  id: z.string().describe("Ask for it again with `as` and, for a key or an entity, its `function`"),
  function: z.string().nullable(),
  words: z.string(),
});
export type StoryHit = z.infer<typeof hit>;

export const storyAnswer = z.discriminatedUnion("kind", [
  story,
  z.object({ kind: z.literal("several"), sentence: z.string(), hits: z.array(hit) }),
  z.object({ kind: z.literal("none"), sentence: z.string(), examples: z.array(hit) }),
]);
export type StoryAnswer = z.infer<typeof storyAnswer>;
