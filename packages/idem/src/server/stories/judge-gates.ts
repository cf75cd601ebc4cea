// The four places where a duplicate can be stopped, in the order an event meets them, and what each of them did here.
import type { Case } from "./gather-case.ts";
import { deliveredBy } from "./gather-case.ts";
import type { StoryGate } from "./story.ts";
import { grouped, plainOf, shortId, some } from "./story-words.ts";

export function judgeGates(told: Case): StoryGate[] {
  const isDoubled = told.runs.some(({ kind }) => kind === "slipped");
  return [
    webhook(told, isDoubled),
    eventId(told, isDoubled),
    functionKey(told, isDoubled),
    destinationKey(told, isDoubled),
  ];
}

const gate = (name: StoryGate["gate"], state: StoryGate["state"], reason: string): StoryGate => ({
  gate: name,
  state,
  reason,
});

function webhook({ source, asked, runs, duplicates }: Case, isDoubled: boolean): StoryGate {
  const delivered = deliveredBy(asked ?? runs[0]?.event ?? null);
  if (delivered === null) return gate("webhook", "not-in-use", "No webhook: the event was sent by code.");
  const key = source?.value.config.key;
  const by = key === undefined ? "the delivery's id" : `its business key ${key.join(", ")}`;
  if (duplicates.length > 0 && !isDoubled) {
    return gate(
      "webhook",
      "stopped",
      `The source knew ${some(duplicates.length, "later delivery", "later deliveries")} by ${by}.`,
    );
  }
  if (isDoubled) {
    return gate(
      "webhook",
      "let-through",
      key === undefined ? "The source has no business key set." : `The deliveries differed in ${key.join(", ")}.`,
    );
  }
  return gate("webhook", "nothing-to-stop", `The source would know a second delivery by ${by}.`);
}

function eventId({ asked, runs, duplicates }: Case, isDoubled: boolean): StoryGate {
  const starting = runs.flatMap(({ kind, event }) => (kind === "rerun" || event === null ? [] : [event]));
  const [first] = starting;
  const delivered = deliveredBy(asked ?? first ?? null) !== null;
  if (duplicates.length > 0) {
    const id = shortId(duplicates[0]!.callerId ?? duplicates[0]!.id);
    return delivered && !isDoubled
      ? gate("event-id", "not-in-use", "The webhook source gives the event its id.")
      : gate(
          "event-id",
          isDoubled ? "let-through" : "stopped",
          `${some(duplicates.length, "event")} with the id ${id} came again and ${duplicates.length === 1 ? "was" : "were"} suppressed${isDoubled ? "; others had another id" : ""}.`,
        );
  }
  const withId = starting.filter(({ callerId }) => callerId !== null).length;
  if (isDoubled && withId === 0) return gate("event-id", "not-in-use", "The events carried no id.");
  if (isDoubled)
    return gate(
      "event-id",
      "let-through",
      `${starting.length === 2 ? "Two" : starting.length} ids, so ${some(starting.length, "event")}.`,
    );
  const one = asked ?? first ?? null;
  if (one === null || one.callerId === null) return gate("event-id", "not-in-use", "The event carried no id.");
  return gate("event-id", "nothing-to-stop", "Its id came once.");
}

function functionKey({ function: fn, runs, key, decisions }: Case, isDoubled: boolean): StoryGate {
  const config = fn?.config?.idempotency ?? null;
  if (fn === null) return gate("function-key", "not-in-use", "No function has a trigger for this event.");
  if (config === null) {
    return gate("function-key", isDoubled ? "let-through" : "not-in-use", "The function has no key.");
  }
  const spared = runs.reduce((sum, each) => sum + each.spared.filter(({ kind }) => kind === "duplicate-key").length, 0);
  if (key === null) {
    const isHeld = decisions.some(({ kind }) => kind === "held");
    if (isHeld) return gate("function-key", "stopped", "The key was missing, so the event waits for a person.");
    if (runs.length > 0)
      return gate(
        "function-key",
        isDoubled ? "let-through" : "not-in-use",
        `The key ${config.key} was missing in the event.`,
      );
    return gate("function-key", "nothing-to-stop", "It was not asked.");
  }
  if (isDoubled)
    return gate("function-key", "let-through", "The key was given back inside its window, so it could be taken again.");
  if (spared > 0)
    return gate(
      "function-key",
      "stopped",
      `Key ${shortId(plainOf(key))} was taken: ${some(spared, "duplicate")} ${spared === 1 ? "was" : "were"} answered with the first run.`,
    );
  if (decisions.some(({ kind }) => kind === "duplicate-key"))
    return gate("function-key", "stopped", "The key was taken by an earlier run.");
  return gate("function-key", "nothing-to-stop", `Key ${shortId(plainOf(key))} was asked for once.`);
}

function destinationKey({ runs }: Case, isDoubled: boolean): StoryGate {
  const sent = runs.flatMap(({ timeline }) => timeline.filter(({ kind, isKept }) => kind === "effect" && !isKept));
  if (sent.length === 0) {
    const reason =
      runs.length === 0 ? "Nothing ran, so nothing was sent." : "No step recorded a call to others with a key.";
    return gate("destination-key", isDoubled ? "let-through" : "not-in-use", reason);
  }
  const byStep = grouped(sent, ({ name }) => name);
  const repeated = [...byStep].filter(([, steps]) => steps.length > 1);
  if (repeated.length === 0)
    return gate("destination-key", "nothing-to-stop", `Step ${sent[0]!.name} sent its key once.`);
  const differing = repeated.find(([, steps]) => new Set(steps.map((each) => each.destinationKey)).size > 1);
  if (differing !== undefined) {
    return gate(
      "destination-key",
      "let-through",
      `Step ${differing[0]} sent another key in each run: without a function's key it comes from the event.`,
    );
  }
  return gate(
    "destination-key",
    "stopped",
    `Step ${repeated[0]![0]} sent the same key each time, so its receiver could tell.`,
  );
}
