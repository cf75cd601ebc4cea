// Stories as /api shows them (stories/story.ts).
import { z } from "zod";
import { runStates } from "../../model/run.ts";
import {
  deeds,
  factKinds,
  gateNames,
  gateStates,
  nounKinds,
  type Story,
  subjectKinds,
  tones,
} from "../../stories/story.ts";

const subject = z.object({
  as: z.enum(subjectKinds),
  id: z.string().describe("Ask for it again with `as` and, for a key or an entity, its `function`"),
  function: z.string().nullable(),
});
export const storyHit = subject.extend({ words: z.string() });

export const storyItem: z.ZodType<Story, Story> = z.object({
  kind: z.literal("story"),
  about: z.string().describe('What was found: "key of draft-invoice"'),
  subject,
  function: z.string().nullable(),
  tone: z.enum(tones),
  times: z.number().int().describe("How often it ran, reruns left out"),
  title: z.string(),
  detail: z.string(),
  gates: z.array(
    z.object({
      gate: z.enum(gateNames),
      state: z
        .enum(gateStates)
        .describe(
          "`let-through`: a duplicate passed it · `nothing-to-stop`: it is in use and no duplicate came · `not-known`: nothing says what it did",
        ),
      reason: z.string(),
    }),
  ),
  facts: z.array(
    z.object({
      at: z.number().int().nullable().describe("Null for what is so now; what is told after it is still ahead"),
      kind: z.enum(factKinds),
      text: z.string(),
      untilAt: z.number().int().nullable().describe("Of a fact that was repeated: when it happened last"),
    }),
  ),
  todo: z
    .array(
      z.object({
        text: z.string(),
        does: z.enum(deeds),
        label: z.string().describe("What to write on its button"),
        id: z.string().describe("Of the run, event, key or function it is about"),
        other: z.string().nullable().describe("The other run, or the line to paste"),
      }),
    )
    .max(3),
  things: z.array(
    z.object({
      kind: z.enum(["run", "event"]),
      id: z.string(),
      name: z.string(),
      state: z.enum(runStates).nullable().describe("Of a run"),
      words: z.string().describe("What it did here"),
    }),
  ),
  nouns: z.array(
    z.object({
      text: z.string().describe("As it stands in the sentences"),
      kind: z.enum(nounKinds),
      id: z.string(),
      scope: z.string().nullable().describe("Of a key: what it is unique within"),
    }),
  ),
});
