// The story as the page asks for it.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import type {
  Story,
  StoryFact,
  StoryGate,
  StoryHit,
  StoryNoun,
  StoryThing,
  StoryTodo,
} from "../../../../idem/src/stories/story.ts";
import { ask } from "../../api/client.ts";
import { useFollow } from "../../api/follow.ts";

export type { Story, StoryFact, StoryGate, StoryHit, StoryNoun, StoryThing, StoryTodo };

export interface StoryAsk {
  readonly q?: string | undefined;
  readonly as?: StoryHit["as"] | undefined;
  readonly fn?: string | undefined;
}

// The stream speaks up to twice a second; a story is read, and changes when something in it moved on.
const askAgainMs = 2_000;

export function useStory({ q, as, fn }: StoryAsk) {
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ["story", q, as, fn],
    queryFn: async ({ signal }) => {
      const told = await ask("GET /api/explain", { query: { q: q!, as, function: fn }, signal });
      return told.kind === "story" ? told.story : told;
    },
    enabled: q !== undefined,
  });
  useFollow(
    useCallback(
      async () => q !== undefined && (await queries.invalidateQueries({ queryKey: ["story", q] })),
      [queries, q],
    ),
    askAgainMs,
  );
  return query;
}
