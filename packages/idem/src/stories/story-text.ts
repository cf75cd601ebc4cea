// A story as lines of text, for terminals: the same sentences, with their times.
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

/** The sentence of a fact, and when it was so last. */
export const factText = ({ text, untilAt }: StoryFact, timeOf: (at: number) => string): string =>
  untilAt === null ? text : `${text} The last time at ${timeOf(untilAt)}.`;

const iso = (at: number): string => new Date(at).toISOString();

/** The verdict, its detail, the gates, what happened with times in UTC, which runs are meant, and what to do. */
export function storyLines({ title, detail, gates, facts, things, todo }: Story): string[] {
  const runs = things.filter(({ kind }) => kind === "run");
  return [
    `${title}.`,
    ...(detail === "" ? [] : [detail]),
    ...gates.map(({ gate, state, reason }) => `${gateTitles[gate]}: ${gateWords[state]}. ${reason}`),
    ...facts.map((fact) => `${fact.at === null ? "now" : iso(fact.at)}  ${factText(fact, iso)}`),
    ...runs.map(({ id, name, state }) => `${name} is ${id}, ${state}.`),
    ...todo.map(({ text }, i) => `${i + 1}. ${text}`),
  ];
}
