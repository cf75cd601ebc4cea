// A group as a list shows it: sizes bounded, no payloads, and the few words that a row needs.
import type { Engine } from "../../engine/engine.ts";
import { isEnded } from "../../model/run.ts";
import { tickEventName } from "../../model/tick.ts";
import { readError } from "../../model/user-errors.ts";
import { dayMs } from "../../model/window.ts";
import type { KnownFunctions } from "../../radar/functions-known.ts";
import type { LastFailure, RunStart } from "../../store/counts.ts";
import type { RunSummary, StoreReads } from "../../store/reads.ts";
import type { GroupedRun, GroupItem } from "../api/group-shape.ts";
import { openPreviews, type Preview } from "../api/open-previews.ts";
import type { Gathered } from "./gather-groups.ts";
import { type Judged, type JudgedRun, judgeGroup } from "./judge-group.ts";

export interface JudgedGroup {
  readonly group: Gathered;
  readonly judged: Judged;
}

export const judgeAll = (groups: readonly Gathered[], functions: KnownFunctions): JudgedGroup[] =>
  groups.map((group) => ({ group, judged: judgeGroup(group, functions) }));

const runsShownMax = 4;
const errorCharsMax = 160;
// A run that nobody could begin in this time has no worker.
const noWorkerAfterMs = 10_000;
// Windows of a key that are counted; those after them are "window 6 or later".
const windowsCountedMax = 5;
// Windows this long are kept for good.
const foreverMs = 100 * 365 * dayMs;

export interface Telling {
  readonly engine: Engine;
  readonly env: string;
  readonly functions: KnownFunctions;
  readonly now: number;
}

export async function tellGroups(groups: readonly JudgedGroup[], telling: Telling): Promise<GroupItem[]> {
  if (groups.length === 0) return [];
  const { env, engine } = telling;
  const { reads } = engine.store;
  const shown = groups.map(({ judged }) => shownRuns(judged.runs));
  const asked = groups.flatMap(({ group }) => group.runs.filter(({ rerunOf }) => rerunOf === null));
  const unsettled = shown.flat().filter(({ run }) => run.state === "failed" || !isEnded(run.state));
  const [starts, failures, previewOf] = await Promise.all([
    reads.runStarts(env, asked),
    unsettled.length === 0
      ? []
      : reads.lastFailures(
          env,
          unsettled.map(({ run }) => run.id),
        ),
    openPreviews(
      reads,
      env,
      unsettled.map(({ run }) => run),
    ),
  ]);
  const startOf = new Map(starts.map((start) => [start.runId, start]));
  const failureOf = new Map(failures.map((failure) => [failure.runId, failure]));
  return Promise.all(
    groups.map(async ({ group, judged }, i) =>
      tellGroup(group, judged, shown[i]!, {
        ...telling,
        startOf: (runId) => startOf.get(runId) ?? null,
        failureOf: (runId) => failureOf.get(runId) ?? null,
        previewOf,
      }),
    ),
  );
}

/** Runs that ran again come before those a person reran, and only the first are shown: a list of a thousand is no list. */
const shownRuns = (runs: readonly JudgedRun[]): readonly JudgedRun[] => runs.slice(0, runsShownMax);

interface Facts extends Telling {
  readonly startOf: (runId: string) => RunStart | null;
  readonly failureOf: (runId: string) => LastFailure | null;
  readonly previewOf: (run: RunSummary) => Preview;
}

async function tellGroup(
  { id, fn, runs, guess }: Gathered,
  judged: Judged,
  shown: readonly JudgedRun[],
  facts: Facts,
): Promise<GroupItem> {
  const { functions, startOf } = facts;
  const first = judged.runs[0]!.run;
  const start = startOf(first.id);
  const config = functions.of(fn).key;
  const expression = first.key !== null ? (config?.key ?? null) : (guess?.expression ?? null);
  const key = first.key ?? guess?.entity ?? null;
  const isGuess = first.key === null && guess !== null;
  return {
    id,
    function: fn,
    key,
    label: labelOf(expression, key) ?? start?.callerId ?? start?.eventName ?? first.id,
    isGuess,
    expression,
    eventName: start?.eventName ?? null,
    window: windowOf(first, start, config?.untilFinished ?? false, isGuess),
    runs: shown.map((each) => tellRun(each, functions.of(fn).attempts, facts)),
    runCount: runs.length,
    counts: {
      suppressed: runs.reduce((sum, run) => sum + (startOf(run.id)?.suppressed ?? 0), 0),
      slipped: judged.slipped,
      reruns: judged.reruns,
    },
    gapMs: judged.gapMs,
    isLoud: judged.isLoud,
    tags: await tagsOf(first, judged, config !== null, facts),
  };
}

/** "placementId 48213"; null where there is no key, and the value alone where the expression is no path. */
function labelOf(expression: string | null, key: string | null): string | null {
  if (key === null) return null;
  const value = key.startsWith('"') ? textOf(key) : key;
  const name = /^event(?:\.\w+)*\.(\w+)$/.exec(expression ?? "")?.[1];
  return name === undefined ? value : `${name} ${value}`;
}

function textOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    // The radar keeps the beginning of long values only.
    return json;
  }
}

function windowOf(
  first: RunSummary,
  start: RunStart | null,
  untilFinished: boolean,
  isGuess: boolean,
): GroupItem["window"] {
  const startsAt = first.createdAt;
  if (first.key === null) {
    if (start?.eventName === tickEventName) return { kind: "forever", startsAt, endsAt: null };
    // A key would have covered a day.
    return { kind: "none", startsAt, endsAt: isGuess ? startsAt + dayMs : null };
  }
  const endsAt = start?.windowEndsAt ?? null;
  if (untilFinished && !isEnded(first.state)) return { kind: "until-finished", startsAt, endsAt };
  if (endsAt !== null && endsAt - startsAt >= foreverMs) return { kind: "forever", startsAt, endsAt: null };
  return { kind: untilFinished ? "until-finished" : "timed", startsAt, endsAt };
}

function tellRun({ run, place }: JudgedRun, attempts: number, { failureOf, previewOf }: Facts): GroupedRun {
  const failure = failureOf(run.id);
  return {
    id: run.id,
    state: run.state,
    kind: place,
    eventId: run.eventId,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    endedAt: run.endedAt,
    dueAt: run.dueAt,
    attempt:
      failure === null
        ? null
        : {
            step: failure.step,
            number: failure.attempt,
            of: Math.max(attempts, failure.attempt),
            error: messageOf(failure.error),
            retryAt: failure.retryAt,
          },
    ...previewOf(run),
  };
}

function messageOf(error: string): string {
  try {
    const { message } = readError(error);
    return message.slice(0, errorCharsMax);
  } catch {
    // It was cut: its message is in it all the same.
    return (/"message":"((?:[^"\\]|\\.)*)/.exec(error)?.[1] ?? error).slice(0, errorCharsMax);
  }
}

async function tagsOf(first: RunSummary, judged: Judged, hasKey: boolean, facts: Facts): Promise<string[]> {
  const { engine, env, now } = facts;
  const tags: string[] = [];
  if (first.key !== null && first.previousRunId !== null) tags.push(await windowTag(engine.store.reads, env, first));
  if (first.key === null && hasKey && facts.startOf(first.id)?.eventName !== tickEventName)
    tags.push("key was missing");
  if (judged.maybe > 0 && judged.slipped === 0) tags.push("maybe the same");
  if (judged.runs.some(({ run }) => isWithoutWorker(run, engine, now))) tags.push("no-worker");
  return tags;
}

export const isWithoutWorker = (run: RunSummary, engine: Engine, now: number): boolean =>
  run.state === "queued" && now - run.createdAt >= noWorkerAfterMs && !engine.canRun(run.fn);

/** Each window's first run names the run that held the key before it. */
async function windowTag(reads: StoreReads, env: string, first: RunSummary): Promise<string> {
  let [number, previous] = [1, first.previousRunId];
  while (previous !== null && number <= windowsCountedMax) {
    number += 1;
    const held = await reads.run(env, previous);
    const opened = held === null || held.generation === held.id ? held : await reads.run(env, held.generation);
    previous = opened?.previousRunId ?? null;
  }
  return number > windowsCountedMax ? `window ${number} or later` : `window ${number}`;
}
