// The four places where a duplicate can be stopped, in the order an event meets them, and what each of them did here.
import { tickOf } from "../model/tick.ts";
import type { TimelineEntry } from "../observe/timeline.ts";
import { type Case, deliveredBy } from "./gather-case.ts";
import type { StoryGate } from "./story.ts";
import { capital, grouped, plainOf, shortId, some } from "./story-words.ts";
import { madeBy } from "./tell-facts.ts";

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
  if (delivered === null) {
    const event = asked ?? runs[0]?.event ?? null;
    const by = event !== null && tickOf(event) !== null ? "the schedule ticked" : "the event was sent by code";
    return gate("webhook", "not-in-use", `No webhook: ${by}.`);
  }
  const key = source?.key ?? null;
  if (source?.shut != null) {
    const state = isDoubled ? "let-through" : duplicates.length > 0 ? "stopped" : "nothing-to-stop";
    return gate("webhook", state, `What the source knows a delivery by cannot be read here: ${source.shut}`);
  }
  const by = key === null ? "the delivery's id" : `its business key ${key.join(", ")}`;
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
      key === null ? "The source has no business key set." : `The deliveries differed in ${key.join(", ")}.`,
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
          `${capital(some(duplicates.length, "event"))} with the id ${id} came again and ${duplicates.length === 1 ? "was" : "were"} suppressed${isDoubled ? "; others had another id" : ""}.`,
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

/** Whether the function runs in an app of the Inngest SDK, which the server calls; Idem's own SDK runs it in its process. */
export const isRemote = (fn: Case["function"]): boolean => fn?.config?.runtime !== undefined;

// Kinds of steps whose code is handed a destination key. Only an effect says that it sent it.
const handsKey: ReadonlySet<TimelineEntry["kind"]> = new Set(["run", "fetch", "transaction"]);
const notSaid = "It did not say what it sent.";

function destinationKey({ runs, function: fn }: Case, isDoubled: boolean): StoryGate {
  const name = "destination-key";
  if (runs.length === 0) return gate(name, "not-in-use", "Nothing ran, so nothing was sent.");
  const steps = runs.flatMap(({ timeline }) => timeline.filter(({ isKept }) => !isKept));
  const sent = steps.filter(({ kind }) => kind === "effect");
  if (sent.length > 0) {
    const { step, isRepeated, isSame } = compared(sent);
    if (!isRepeated) return gate(name, "nothing-to-stop", `Step ${step} sent its key once.`);
    return isSame
      ? gate(name, "stopped", `Step ${step} sent the same key each time, so its receiver could tell.`)
      : gate(
          name,
          "let-through",
          `Step ${step} sent another key in each run: without a function's key it comes from the event.`,
        );
  }
  const handed = steps.filter(({ kind, destinationKey: key }) => handsKey.has(kind) && key !== null);
  if (handed.length === 0) {
    return gate(name, isDoubled ? "let-through" : "not-in-use", "No step was handed a key to send.");
  }
  const { step, isRepeated, isSame } = compared(handed);
  // The wire protocol has no field for it: the code of a remote step never sees the key of its timeline.
  if (isRemote(fn)) {
    return gate(
      name,
      "not-known",
      `Idem passes no key to steps of an Inngest SDK app and does not know what step ${step} sent. Send a key of your own, made from the event and the step id.`,
    );
  }
  if (!isRepeated) return gate(name, "not-known", `Step ${step} was handed a key. ${notSaid}`);
  if (isSame) return gate(name, "not-known", `Step ${step} was handed the same key each time. ${notSaid}`);
  // Whatever it sent, the keys that it was handed could not have told.
  return gate(
    name,
    isDoubled ? "let-through" : "not-known",
    `Step ${step} was handed another key in each run. What it sent is not known.`,
  );
}

/** The step to speak of: one with another key in each run, else one that came again; of those, one that made something. */
function compared(steps: readonly TimelineEntry[]): {
  readonly step: string;
  readonly isRepeated: boolean;
  readonly isSame: boolean;
} {
  const repeated = [...grouped(steps, ({ stepId }) => stepId).values()].filter((same) => same.length > 1);
  const differing = repeated.filter((same) => new Set(same.map((each) => each.destinationKey)).size > 1);
  const those = differing.length > 0 ? differing : repeated.length > 0 ? repeated : steps.map((each) => [each]);
  const [first] = those.find((same) => same.some((each) => madeBy(each) !== null)) ?? those[0]!;
  return { step: first!.name, isRepeated: repeated.length > 0, isSame: differing.length === 0 };
}
