// The story of one run: what opened it, what it waits for or waited for, how it came to its end, what it spared.
import type { Event } from "../model/event.ts";
import type { Run } from "../model/run.ts";
import { type TickData, tickOf } from "../model/tick.ts";
import { readError } from "../model/user-errors.ts";
import { differs, instant, type ToTell } from "./explain-decision.ts";
import type { CancelOutlook, LimitInLine } from "./outlook.ts";

export interface RunFacts {
  readonly run: Run;
  /** All that it carries; more than one only in a batch. */
  readonly events: readonly Event[];
  readonly spared: readonly ToTell[];
  readonly line: readonly LimitInLine[];
  readonly cancelOn: readonly CancelOutlook[];
}

// A batch holds up to a hundred; the others are in the list.
const eventsNamed = 10;

export function runSentences({ run, events, spared, line, cancelOn }: RunFacts, name: string): string[] {
  const told = [
    `Run ${run.id} of "${name}" is ${run.state}; it was opened at ${instant(run.createdAt)} by event ${run.eventId}.`,
  ];
  const tick = events.length === 0 ? null : tickOf(events[0]!);
  if (tick !== null) told.push(tickSentence(tick));
  if (events.length > 1) {
    const named = events.slice(0, eventsNamed).map(({ id }) => id);
    const more = events.length > named.length ? ` and ${events.length - named.length} more` : "";
    told.push(`It carries a batch of ${events.length} events: ${named.join(", ")}${more}.`);
  }
  if (run.key !== null) told.push(`It has key ${run.key}.`);
  if (run.rerunOf !== null) told.push(`A person asked for it: it reruns ${run.rerunOf}${beganAt(run)}.`);
  if (run.previousRunId !== null) told.push(`Before it, run ${run.previousRunId} held the key.`);
  if (run.startedAt !== null && run.startedAt > run.createdAt) {
    told.push(`It began ${length(run.startedAt - run.createdAt)} after it was opened.`);
  }
  told.push(...lineSentences(line));
  for (const { event, if: condition, until } of cancelOn) {
    const where = condition === null ? "" : ` where ${condition}`;
    told.push(`Event "${event}" cancels it${where}${until === null ? "" : `, until ${instant(until)}`}.`);
  }
  if (run.state === "cancelled" && run.result !== null) told.push(`Why it ended: ${readError(run.result).message}.`);
  for (const decision of spared) {
    told.push(`It answered for event ${decision.eventId} (${decision.kind}: ${decision.reason})${differs(decision)}.`);
  }
  return told;
}

export function tickSentence({ cron, scheduledAt, fireAt }: TickData): string {
  const later = fireAt === scheduledAt ? "" : `, put off to ${fireAt} by its jitter`;
  return `It is the tick of ${scheduledAt} of schedule "${cron}"${later}.`;
}

function lineSentences(line: readonly LimitInLine[]): string[] {
  if (line.length === 0) return [];
  const full = line.filter(({ used, limit }) => used !== null && used >= limit);
  // A throttle says nothing about a run that could not begin anyway.
  const shown = full.length > 0 ? full : line.filter(({ kind }) => kind === "throttle");
  if (shown.length === 0) return ["It is due, its limits have room, and no worker has taken it up yet."];
  return shown.map(({ kind, limit, periodMs, key, scope, used, waiting }) => {
    const of = `${key === null ? "" : ` of key ${key}`}${scope === "fn" ? "" : ` (${scope})`}`;
    const what =
      kind === "concurrency"
        ? `a slot${of}: ${used} of ${limit} are in use`
        : `its throttle${of}: ${limit} ${limit === 1 ? "start" : "starts"} in ${length(periodMs!)}`;
    return `It stands in line for ${what}, and ${waiting} ${waiting === 1 ? "run waits" : "runs wait"} for it.`;
  });
}

const beganAt = ({ rerunFrom }: Run): string =>
  rerunFrom === null
    ? ""
    : ` from step "${rerunFrom.name}" on, with ${rerunFrom.keptCount} recorded ${rerunFrom.keptCount === 1 ? "step" : "steps"} kept`;

/** "250 ms", "12.5 s", "3 min", "2 h" */
function length(ms: number): string {
  if (ms < 1_000) return `${ms} ms`;
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
