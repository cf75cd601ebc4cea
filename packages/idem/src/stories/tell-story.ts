// From a case to its story.
import { functionScope } from "../model/claim.ts";
import { type Case, deliveredBy } from "./gather-case.ts";
import { judgeGates } from "./judge-gates.ts";
import { nextSteps } from "./next-steps.ts";
import { reachVerdict } from "./reach-verdict.ts";
import type { Story, StoryNoun, StorySubject, StoryThing } from "./story.ts";
import { plainOf, shortId } from "./story-words.ts";
import { batchTold, tellFacts } from "./tell-facts.ts";

/** `about`: what was found, in words. */
export function tellStory(told: Case, subject: StorySubject, about: string): Story {
  const gates = judgeGates(told);
  return {
    kind: "story",
    about,
    subject,
    function: told.function?.fn ?? null,
    ...reachVerdict(told),
    gates,
    facts: tellFacts(told),
    todo: nextSteps(told, gates),
    things: thingsOf(told),
    nouns: nounsOf(told),
  };
}

function thingsOf({ runs, asked, duplicates }: Case): StoryThing[] {
  const things: StoryThing[] = runs.map(({ run, number, kind }) => ({
    kind: "run",
    id: run.id,
    name: `Run ${number}`,
    state: run.state,
    words: kind === "rerun" ? "a person asked for it" : kind === "slipped" ? "slipped through" : "",
  }));
  const seen = new Set<string>();
  const add = (id: string, name: string, words: string) => {
    if (seen.has(id)) return;
    seen.add(id);
    things.push({ kind: "event", id, name, state: null, words });
  };
  for (const { event, number, run } of runs) {
    if (event !== null && run.rerunOf === null)
      add(event.id, shortId(event.callerId ?? event.id), `started run ${number}`);
  }
  // The last ones a person may look for; the whole list is on the event's page.
  for (const event of duplicates.slice(0, 5)) add(event.id, shortId(event.id), "was suppressed");
  if (asked !== null)
    add(asked.id, shortId(asked.callerId ?? asked.id), runs.length === 0 ? "started nothing" : "is asked about");
  return things;
}

function nounsOf({
  runs,
  asked,
  duplicates,
  function: fn,
  nameOf,
  key,
  source,
  alert,
  decisions,
  pending,
}: Case): StoryNoun[] {
  const nouns = new Map<string, StoryNoun>();
  const add = (text: string, kind: StoryNoun["kind"], id: string, scope: string | null = null) => {
    if (text !== "" && !nouns.has(text)) nouns.set(text, { text, kind, id, scope });
  };
  for (const { run, number, event, events, spared } of runs) {
    add(`run ${number}`, "run", run.id);
    add(`Run ${number}`, "run", run.id);
    add(run.id, "run", run.id);
    if (run.previousRunId !== null) add(run.previousRunId, "run", run.previousRunId);
    if (event !== null) add(shortId(event.callerId ?? event.id), "event", event.id);
    for (const each of events.slice(0, batchTold)) add(shortId(each.callerId ?? each.id), "event", each.id);
    for (const { eventId } of spared.slice(0, 10)) add(shortId(eventId), "event", eventId);
  }
  for (const event of [...duplicates, ...(asked === null ? [] : [asked])]) {
    add(shortId(event.id), "event", event.id);
    add(shortId(event.callerId ?? event.id), "event", event.firstEventId ?? event.id);
  }
  for (const { buffer } of pending)
    if (buffer?.newestEventId != null) add(buffer.newestEventId, "event", buffer.newestEventId);
  if (fn !== null) add(fn.name, "function", fn.fn);
  for (const decision of decisions) {
    add(nameOf(decision.fn), "function", decision.fn);
    if (decision.runId !== null) add(decision.runId, "run", decision.runId);
  }
  if (key !== null && fn !== null) add(`key ${shortId(plainOf(key))}`, "key", key, functionScope(fn.fn));
  const delivered = deliveredBy(asked ?? runs[0]?.event ?? null);
  if (source !== null && delivered !== null) add(source.name, "source", source.name);
  if (alert !== null) add("an alert", "alert", alert.id);
  return [...nouns.values()];
}
