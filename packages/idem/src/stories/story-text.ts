// A story as text, and the words of it that are no part of its sentences: the same on a terminal, in the API and on the page.
import type { Story, StoryFact, StoryGate } from "./story.ts";

export const gateTitles: Readonly<Record<StoryGate["gate"], string>> = {
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

/** Of a fact that was repeated: before when that was. */
export const lastTime = "The last time at";

/** The sentence of a fact, and when it was so last. */
export const factText = ({ text, untilAt }: StoryFact, timeOf: (at: number) => string): string =>
  untilAt === null ? text : `${text} ${lastTime} ${timeOf(untilAt)}.`;

const iso = (at: number): string => new Date(at).toISOString();

/** The verdict and its detail, the gates, what happened with its times, which runs are meant, and what to do; what there is nothing of is left out. */
export function storyParagraphs(
  { title, detail, gates, facts, things, todo }: Story,
  timeOf: (at: number) => string,
): string[][] {
  const runs = things.filter(({ kind }) => kind === "run");
  return [
    [`${title}.`, ...(detail === "" ? [] : [detail])],
    gates.map(({ gate, state, reason }) => `${gateTitles[gate]}: ${gateWords[state]}. ${reason}`),
    facts.map((fact) => `${fact.at === null ? "now" : timeOf(fact.at)}  ${factText(fact, timeOf)}`),
    runs.map(({ id, name, state }) => `${name} is ${id}, ${state}.`),
    todo.map(({ text }, i) => `${i + 1}. ${text}`),
  ].filter(({ length }) => length > 0);
}

/** With times in UTC. */
export const storyLines = (story: Story): string[] => storyParagraphs(story, iso).flat();
