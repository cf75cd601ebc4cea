// The story as the page asks for it, and as plain sentences for whoever pastes it into a message.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import type {
  Story,
  StoryAnswer,
  StoryFact,
  StoryGate,
  StoryHit,
  StoryNoun,
  StoryThing,
  StoryTodo,
} from "../../../../idem/src/stories/story.ts";
import { getJson } from "../../api/client.ts";
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
    queryFn: ({ signal }) => getJson<StoryAnswer>("api/stories", { q, as, function: fn }, signal),
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

export const gateNames: Readonly<Record<StoryGate["gate"], string>> = {
  webhook: "Webhook",
  "event-id": "Event id",
  "function-key": "Function key",
  "destination-key": "Destination key",
};

export const gateWords: Readonly<Record<StoryGate["state"], string>> = {
  "let-through": "let it through",
  stopped: "stopped it",
  "not-in-use": "not in use",
  "nothing-to-stop": "nothing to stop",
  "not-known": "not known",
};

/** Plain sentences with times. `timeOf`: an instant with its date. */
export function textOf({ title, detail, gates, facts, todo }: Story, timeOf: (at: number) => string): string {
  const told = facts.map(
    ({ at, text, untilAt }) =>
      `${at === null ? "now" : timeOf(at)}  ${text}${untilAt === null ? "" : ` The last time at ${timeOf(untilAt)}.`}`,
  );
  return [
    `${title}.`,
    detail,
    "",
    ...gates.map(({ gate, state, reason }) => `${gateNames[gate]}: ${gateWords[state]}. ${reason}`),
    "",
    ...told,
    ...(todo.length === 0 ? [] : ["", ...todo.map(({ text }, i) => `${i + 1}. ${text}`)]),
  ].join("\n");
}
