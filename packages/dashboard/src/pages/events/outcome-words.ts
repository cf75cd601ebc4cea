// The outcomes of an event, as the filter calls them.
import type { EventOutcome } from "../../../../idem/src/model/decision.ts";
import type { Choice } from "../../parts/field.tsx";

const words: Readonly<Record<EventOutcome, string>> = {
  started: "started a run",
  nothing: "no run, and none to come",
  unheard: "no function listens",
  duplicate: "duplicate",
  filtered: "filtered out",
  debounced: "debounced",
  batched: "batched",
  "rate-limited": "rate-limited",
  "singleton-skipped": "skipped, one was at work",
  paused: "paused",
  held: "held",
  dropped: "dropped by hand",
  missed: "missed schedule",
};

export const outcomeChoices: readonly Choice[] = [
  { value: "", text: "all" },
  ...Object.entries(words).map(([value, text]) => ({ value, text })),
];
