// The fate of keys when a run is rerun with other data, said before it is done.
import type { Answer } from "../../api/client.ts";
import { lengthWords } from "../../parts/time-words.ts";
import type { EffectItem, RunDetail } from "./run-data.ts";
import { count } from "./run-words.ts";

export type KeyPreview = Answer<"POST /api/runs/:run/rerun-preview">;

export function functionKeyWords({ key, runKey, dataKey }: KeyPreview): string {
  switch (key) {
    case "none":
      return "The function has no key: nobody else is answered with the new run.";
    case "missing":
      return "Neither the run nor this data has a key: nobody else is answered with the new run.";
    case "same":
      return `The data gives the same key, ${runKey}. The new run goes past it; from then on duplicates of ${runKey} are answered with the new run.`;
    case "other":
      return `This data is about something else: it gives ${dataKey === null ? "no key" : `key ${dataKey}`}, the run has ${runKey === null ? "none" : `key ${runKey}`}. It is not rerun with it. Send it as an event of its own: it then asks its own key.`;
  }
}

const keyed: ReadonlySet<string> = new Set(["run", "fetch", "transaction"]);

/** The destinations' knowledge of the first run, and whether they may have forgotten it. */
export function destinationKeyWords(run: RunDetail, effects: readonly EffectItem[], now: number): string[] {
  const sent = effects.filter(({ state }) => state === "sent");
  const open = effects.filter(({ state }) => state !== "sent");
  const recorded = new Set(effects.map(({ stepId }) => stepId));
  const handed = run.timeline.filter(
    ({ kind, stepId, destinationKey, isKept }) =>
      keyed.has(kind) && destinationKey !== null && !isKept && !recorded.has(stepId),
  );
  const said = sent.slice(0, 3).map(({ step, destination, receipt }) => {
    const made = receipt === null ? "what it sent" : receipt;
    return `${step} is not sent to ${destination} again: the new run gets ${made} as it was recorded, whatever the data says.`;
  });
  if (sent.length > 3) said.push(`Nor are ${count(sent.length - 3, "effect")} more.`);
  for (const { step, destination } of open.slice(0, 3))
    said.push(`Nobody knows what became of ${step} at ${destination}: it stops there again until a person says so.`);
  if (handed.length > 0) {
    const oldest = Math.min(...handed.map(({ startedAt }) => startedAt));
    const steps = handed.length === 1 ? `Step ${handed[0]!.name} hands` : `${count(handed.length, "step")} hand`;
    said.push(
      `${steps} on the same destination keys as the first time, ${lengthWords(Math.max(0, now - oldest))} ago. A service that still remembers them gives back what it made of the old data, or refuses because the data is another; one that has forgotten does it again. Many remember for a day.`,
    );
  }
  return said.length === 0 ? ["It handed no destination key to anybody yet."] : said;
}
