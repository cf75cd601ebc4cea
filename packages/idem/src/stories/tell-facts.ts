// The past, one sentence per fact, subject first, in the order of time. Repeats are one sentence, with how often and until when.
import type { CodeChange } from "../model/code-fingerprint.ts";
import type { Event } from "../model/event.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import { tickOf } from "../model/tick.ts";
import { readError } from "../model/user-errors.ts";
import type { TimelineEntry } from "../observe/timeline.ts";
import { decisionSentence, decisionWords } from "./decision-words.ts";
import { type Case, type CaseRun, deliveredBy } from "./gather-case.ts";
import type { StoryFact } from "./story.ts";
import { capital, grouped, lengthOf, plainOf, shortId, some, timesWord } from "./story-words.ts";
import { tellAhead, windowFact } from "./tell-ahead.ts";

type Fact = Omit<StoryFact, "untilAt"> & { readonly untilAt?: number };

export function tellFacts(told: Case): StoryFact[] {
  const facts: Fact[] = [];
  for (const run of told.runs) {
    facts.push(...eventFact(told, run), startFact(told, run), ...beginning(told, run), ...stepFacts(run));
  }
  if (told.runs.length === 0 && told.asked !== null) facts.push(arrival(told, told.asked));
  facts.push(...suppressed(told), ...decided(told), ...endings(told));
  if (told.alert !== null) {
    facts.push({ at: told.alert.at, kind: "alert", text: "The radar raised an alert." });
  }
  const window = windowFact(told);
  if (window !== null && window.at !== null && window.at <= told.now) facts.push(window);
  const timed = facts.filter(({ at }) => at !== null).sort((a, b) => a.at! - b.at!);
  const now = facts.filter(({ at }) => at === null);
  return [...timed, ...now, ...tellAhead(told)].map((fact) => ({ ...fact, untilAt: fact.untilAt ?? null }));
}

const idOf = (event: Event): string => shortId(event.callerId ?? event.id);

function arrival({ source }: Case, event: Event): Fact {
  const delivered = deliveredBy(event);
  const tick = tickOf(event);
  const text =
    delivered !== null
      ? `Webhook source ${source?.name ?? delivered.source} delivered event ${idOf(event)}: ${event.name}.`
      : tick !== null
        ? `Schedule "${tick.cron}" ticked: ${tick.scheduledAt}${tick.fireAt === tick.scheduledAt ? "" : `, put off to ${tick.fireAt} by its jitter`}.`
        : event.sourceRunId !== null
          ? `A step of another run sent event ${idOf(event)}: ${event.name}.`
          : `Event ${idOf(event)} arrived: ${event.name}.`;
  return { at: event.receivedAt, kind: "event", text };
}

// Two differences are what a person keeps in mind; the rest is a page of its own.
const differencesTold = 2;
const valueCharsMax = 40;

/** "Its eventType was UPDATED, not INSERTED." */
function differences(first: Event, later: Event): string {
  const [a, b] = [{ data: fromJson(first.data) }, { data: fromJson(later.data) }];
  const told = differingPaths(a, b).flatMap((path) => {
    const [before, after] = [plainAt(a, path), plainAt(b, path)];
    return before === null || after === null ? [] : [`its ${path.replace(/^data\./, "")} was ${after}, not ${before}`];
  });
  return told.length === 0 ? "" : ` ${capital(told.slice(0, differencesTold).join("; "))}.`;
}

function plainAt(value: unknown, path: string): string | null {
  let at = value;
  for (const part of path.split("."))
    at = typeof at === "object" && at !== null ? (at as Record<string, unknown>)[part] : undefined;
  if (typeof at !== "string" && typeof at !== "number" && typeof at !== "boolean") return null;
  const text = String(at);
  return text === "" || text.length > valueCharsMax ? null : text;
}

/** One event may have begun several of these runs: it arrived once. */
function eventFact(told: Case, { event, number, run }: CaseRun): Fact[] {
  if (event === null || run.rerunOf !== null) return [];
  if (told.runs.some((each) => each.number < number && each.event?.id === event.id)) return [];
  const fact = arrival(told, event);
  const first = told.runs[0]!.event;
  return [first === null || first.id === event.id ? fact : { ...fact, text: fact.text + differences(first, event) }];
}

function startFact(told: Case, each: CaseRun): Fact {
  const { run, number, kind, decision } = each;
  const name = told.function?.name ?? run.fn;
  const first = told.runs.find((one) => one.kind === "first");
  const after =
    first === undefined || first === each
      ? ""
      : `, ${lengthOf(run.createdAt - first.run.createdAt)} after run ${first.number}`;
  switch (kind) {
    case "first": {
      // The function is configured so: `afterFailure: "release"`.
      if (first !== each)
        return {
          at: run.createdAt,
          kind,
          text: `It started run ${number}${after}: the run before it had not completed, and gave its key back.`,
        };
      const started = `It started run ${number} of ${name}.`;
      // The keys of a batch are its events', which come next.
      if (each.events.length > 1) return { at: run.createdAt, kind, text: started };
      const key = run.key === null ? "No key was claimed." : `It took key ${shortId(plainOf(run.key))}.`;
      const reason = run.key === null && decision?.reason != null ? ` ${capital(decision.reason)}.` : "";
      return { at: run.createdAt, kind, text: `${started} ${key}${reason}` };
    }
    case "slipped":
      return {
        at: run.createdAt,
        kind,
        text: `It started run ${number}${after}. This is the duplicate that slipped through.`,
      };
    case "maybe":
      return { at: run.createdAt, kind: "note", text: `It started run ${number}${after}. Maybe the same thing again.` };
    case "rerun": {
      const of = told.runs.find((one) => one.run.id === run.rerunOf);
      return {
        at: run.createdAt,
        kind,
        text: `A person asked for run ${number}: it reruns ${of === undefined ? "an earlier run" : `run ${of.number}`}${run.rerunFrom === null ? "" : ` from step ${run.rerunFrom.name} on, with ${some(run.rerunFrom.keptCount, "recorded step")} kept`}.`,
      };
    }
  }
}

/** Of a batch, how many are named: it holds up to a hundred. */
export const batchTold = 10;
// A run that begins sooner was not waiting for anything.
const waitedMs = 1_000;

/** The batch a run carries, the run whose key it took over, and how long it stood in line. */
function beginning({ runs }: Case, { run, number, events }: CaseRun): Fact[] {
  const facts: Fact[] = [];
  if (events.length > 1) {
    const more = events.length > batchTold ? ` and ${events.length - batchTold} more` : "";
    const text = `Run ${number} carries a batch of ${some(events.length, "event")}: ${events.slice(0, batchTold).map(idOf).join(", ")}${more}.`;
    facts.push({ at: run.createdAt, kind: "note", text });
  }
  if (run.previousRunId !== null && !runs.some((each) => each.run.id === run.previousRunId)) {
    facts.push({ at: run.createdAt, kind: "note", text: `Before it, run ${run.previousRunId} held the key.` });
  }
  if (run.startedAt !== null && run.startedAt - run.createdAt >= waitedMs) {
    const text = `Run ${number} began ${lengthOf(run.startedAt - run.createdAt)} after it was opened.`;
    facts.push({ at: run.startedAt, kind: "running", text });
  }
  return facts;
}

// A value longer than this is no name of a thing.
const madeCharsMax = 40;

/** The id of the thing a step made, where its value has one. */
export function madeBy({ output, kind, state }: TimelineEntry): string | null {
  if (state !== "completed" || (kind !== "run" && kind !== "effect" && kind !== "transaction")) return null;
  const value: unknown = typeof output === "object" && output !== null ? (output as { id?: unknown }).id : null;
  return typeof value === "string" && value !== "" && value.length <= madeCharsMax ? value : null;
}

function stepFacts({ number, timeline }: CaseRun): Fact[] {
  return timeline.flatMap((entry): Fact[] => {
    const facts: Fact[] = [];
    if (entry.kind === "diverged") {
      const asked = (entry.output as { asked?: unknown } | null)?.asked;
      const instead = typeof asked === "string" ? `it asked for step ${asked}, which is new` : "it went on without it";
      const text = `The code of run ${number} no longer asked for step ${entry.name}, which it had begun; ${instead}.`;
      return entry.isKept ? [] : [{ at: entry.endedAt, kind: "note", text }];
    }
    if (entry.kind === "code-changed") {
      const { from, to } = entry.output as CodeChange;
      const text = `Run ${number} went on under other code: ${to} instead of ${from}.`;
      return entry.isKept ? [] : [{ at: entry.endedAt, kind: "note", text }];
    }
    const failed = entry.attempts.filter(({ error }) => error !== null);
    const what = entry.name === "" ? "its code" : `step ${entry.name}`;
    if (failed.length > 0 && !entry.isKept) {
      const { error, endedAt } = failed.at(-1)!;
      const text = `Run ${number} failed in ${what} ${timesWord(failed.length)}: ${firstLine(error!.message)}.`;
      facts.push({ at: failed[0]!.endedAt, kind: "failed", text, ...(failed.length > 1 ? { untilAt: endedAt } : {}) });
    }
    const made = madeBy(entry);
    if (made !== null && !entry.isKept) {
      facts.push({ at: entry.endedAt, kind: "completed", text: `Run ${number} finished ${what} and made ${made}.` });
    }
    return facts;
  });
}

function firstLine(message: string): string {
  const [line = ""] = message.split("\n");
  return line.slice(0, 160).replace(/\.$/, "");
}

/** The first has its sentence; those after it are counted. */
function suppressed({ runs, duplicates }: Case): Fact[] {
  const facts: Fact[] = [];
  for (const { spared, number } of runs) {
    const keyed = spared.filter(({ kind }) => kind !== "duplicate-event");
    for (const [, same] of grouped(keyed, ({ kind }) => kind)) {
      const words = decisionWords[same[0]!.kind].spared;
      facts.push(
        folded(
          same.map(({ decidedAt }) => decidedAt),
          `Event ${shortId(same[0]!.eventId)}`,
          words?.isLeftOut ? "was left out" : "asked again",
          `${words?.why ?? "it was put together with others"}, run ${number} answered for it.${although(same.map(({ differs }) => differs))}`,
        ),
      );
    }
  }
  for (const [id, same] of grouped(duplicates, ({ callerId }) => callerId ?? "")) {
    const first = runs.find(({ event }) => event?.id === same[0]!.firstEventId)?.event ?? null;
    const differs = first === null ? [] : same.slice(0, comparedMax).map((event) => differing(first, event));
    facts.push(
      folded(
        same.map(({ receivedAt }) => receivedAt),
        `Event ${shortId(id)}`,
        "asked again",
        `its id was taken, so nothing started.${although(differs)}`,
      ),
    );
  }
  return facts;
}

// As many as anybody looks through.
const comparedMax = 20;

const differing = (first: Event, later: Event): string[] =>
  differingPaths({ data: fromJson(first.data) }, { data: fromJson(later.data) });

/** A duplicate that asked for something else may not have been one. */
function although(differs: readonly (readonly string[])[]): string {
  const others = differs.filter(({ length }) => length > 0);
  if (others.length === 0) return "";
  const paths = [...new Set(others.flat())];
  const more = paths.length > pathsTold ? ` and ${some(paths.length - pathsTold, "other")}` : "";
  const what = `${paths.slice(0, pathsTold).join(", ")}${more}`;
  return differs.length === 1
    ? ` It differed in ${what}.`
    : ` ${capital(some(others.length, "of them", "of them"))} differed in ${what}.`;
}

const pathsTold = 3;

function folded(times: readonly number[], subject: string, did: string, end: string): Fact {
  const text =
    times.length === 1
      ? `${subject} ${did}: ${end}`
      : `${subject} and those after it ${did.replace(/^was /, "were ")} ${times.length} times: ${end}`;
  return { at: times[0]!, kind: "suppressed", text, ...(times.length === 1 ? {} : { untilAt: times.at(-1)! }) };
}

/** Decisions on the event for other functions than the story's. */
function decided({ asked, decisions, runs, function: fn, nameOf, pending }: Case): Fact[] {
  if (asked === null) return [];
  if (decisions.length === 0 && asked.firstEventId === null) {
    return [
      { at: asked.receivedAt, kind: "note", text: "No function has a trigger for this name. Nothing was started." },
    ];
  }
  return decisions.flatMap((decision): Fact[] => {
    if (decision.fn === fn?.fn && runs.length > 0) return [];
    // Its future is read from the buffer, which knows better than the reason of then.
    const isKept = pending.some((each) => each.fn === decision.fn && each.buffer !== null);
    const text = decisionSentence(isKept ? { ...decision, reason: null } : decision, nameOf(decision.fn));
    return [{ at: decision.decidedAt, kind: decision.kind === "started" ? "first" : "note", text }];
  });
}

function endings({ runs }: Case): Fact[] {
  const open: CaseRun[] = [];
  const facts: Fact[] = [];
  for (const each of runs) {
    const { run, number } = each;
    // A run in line: what it waits for.
    if (run.endedAt === null && each.line.length > 0) continue;
    if (run.endedAt === null) open.push(each);
    else if (run.state === "completed")
      facts.push({ at: run.endedAt, kind: "completed", text: `Run ${number} completed.` });
    else {
      const why = run.result === null ? "" : `: ${firstLine(readError(run.result).message)}`;
      facts.push({
        at: run.endedAt,
        kind: run.state as "failed" | "cancelled",
        text: `Run ${number} ${run.state === "failed" ? "failed" : "was cancelled"}${why.replace(/^: cancelled (?=by )/, " ")}.`,
      });
    }
  }
  for (const [words, same] of grouped(open, openWords)) {
    const who = same.length === 1 ? `Run ${same[0]!.number}` : same.length === 2 ? "Both runs" : `${same.length} runs`;
    const verb = same.length === 1 ? words.replace(/^wait /, "waits ").replace(/^are /, "is ") : words;
    const { state } = same[0]!.run;
    const kind = state === "queued" || state === "running" ? state : "waiting";
    facts.push({ at: null, kind, text: `${who} ${verb}.` });
  }
  return facts;
}

function openWords({ run, timeline }: CaseRun): string {
  if (run.parked !== null) return `are parked: ${run.parked.reason}`;
  const wait = timeline.findLast(({ state }) => state === "waiting");
  if (run.state === "waiting" && wait !== undefined) return `wait in step ${wait.name}`;
  const again = timeline.findLast(({ state }) => state === "retrying");
  if (again !== undefined) return `wait to try step ${again.name || "code"} again`;
  return `are ${run.state}`;
}
