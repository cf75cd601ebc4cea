// A run in sentences.
import { timesWord } from "../../../../idem/src/stories/story-words.ts";
import { lengthWords } from "../../parts/time-words.ts";
import { visibleText } from "../../parts/visible-text.ts";
import { isRemark, isWait, nameOf } from "./rows.ts";
import type { EffectItem, GroupItem, RunDetail, TimelineEntry } from "./run-data.ts";

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
export const ordinal = (n: number): string => ordinals[n - 1] ?? `${n}th`;

/** "waiting for approval": of a waiting run, what for, in its author's words. */
export function stateWords(run: RunDetail): string {
  if (run.state !== "waiting") return run.state;
  const retrying = run.timeline.find(({ state }) => state === "retrying");
  if (retrying !== undefined) return `waiting to try ${nameOf(retrying)} again`;
  const open = run.timeline.find(({ state }) => state === "waiting");
  if (open === undefined) return "waiting";
  if (open.kind === "sleep") return "sleeping";
  return /^wait[- _]?for[- _]/i.test(open.name)
    ? `waiting for ${open.name.replace(/^wait[- _]?for[- _]/i, "").replace(/[-_]/g, " ")}`
    : `waiting in ${open.name}`;
}

/** "Entered twice without an outcome" */
export const enteredAgain = ({ count: times }: { readonly count: number }): string =>
  `Entered ${timesWord(times)} without an outcome`;

/** The fingerprints of the code it went through, in order; null where it was the same all along. */
export function codesOf({ code, timeline }: RunDetail): string | null {
  const since = timeline.flatMap(({ kind, output, isKept }) => {
    const to: unknown = kind === "code-changed" && !isKept ? (output?.value as { to?: unknown } | null)?.to : null;
    return typeof to === "string" ? [to] : [];
  });
  return code === null || since.length === 0 ? null : [code, ...since].join(", then ");
}

export function stepsWords(run: RunDetail): string {
  const steps = run.timeline.filter((entry) => entry.kind !== "function" && !isRemark(entry)).length;
  const errors = run.timeline.reduce(
    (sum, { attempts }) => sum + attempts.filter(({ error }) => error !== null).length,
    0,
  );
  return [count(steps, "step"), ...(errors === 0 ? [] : [count(errors, "error")])].join(", ");
}

/** "2 steps needed a second try", of a run that got over them. */
export function triedAgainWords({ timeline, state }: RunDetail): string | null {
  const again = timeline.filter(
    (entry) => entry.state === "completed" && entry.attempts.some(({ error }) => error !== null),
  );
  if (state !== "completed" || again.length === 0) return null;
  return `${count(again.length, "step")} needed another try`;
}

export const count = (n: number, noun: string): string => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;

/** Runs that were not asked for by a person, in their order, and where this one stands among them; null when it was. */
export function placeInGroup(group: GroupItem, runId: string): { readonly number: number; readonly of: number } | null {
  const asked = group.runs.filter(({ kind }) => kind !== "rerun");
  const at = asked.findIndex(({ id }) => id === runId);
  if (at === -1) return null;
  return { number: at + 1, of: Math.max(asked.length, group.runCount - group.counts.reruns) };
}

/** Over the page, and on the browser's tab: which function, for what, which of its runs, and where it is. */
export function titleOf(
  run: RunDetail,
  group: GroupItem | undefined,
): { readonly heading: string; readonly title: string } {
  const place = group === undefined ? null : placeInGroup(group, run.id);
  const which =
    run.rerunOf !== null ? "rerun" : place !== null && place.of > 1 ? `run ${place.number} of ${place.of}` : null;
  const name = visibleText(run.function);
  const key = group === undefined || group.key === null ? null : visibleText(group.label);
  const words = (parts: readonly (string | null)[]) => parts.filter((each) => each !== null).join(", ");
  const about = key === null ? null : key.split(" ").slice(1).join(" ") || key;
  return {
    heading: words([about === null ? name : `${name} · ${about}`, which]),
    title: words([name, key, which, run.state]),
  };
}

/** A run's name by the things it made: the receipts of its effects. */
export function madeWords(effects: readonly EffectItem[]): string | null {
  const receipts = effects.flatMap(({ receipt }) => (receipt === null ? [] : [receipt]));
  return receipts.length === 0 ? null : receipts.slice(0, 3).join(", ");
}

/** Queued runs say what they wait for. */
export function queueWords(run: RunDetail, group: GroupItem | undefined): string | null {
  if (run.state !== "queued") return null;
  if (group?.tags.includes("no-worker") === true) return "No worker has this function: start one that does.";
  const tight = run.line.find(({ used, limit, waiting }) => waiting > 0 && (used === null || used >= limit));
  if (tight === undefined) return "It is due: the next free worker takes it up.";
  const ahead = Math.max(0, tight.waiting - 1);
  const what =
    tight.periodMs === null ? `limit ${tight.limit}` : `limit ${tight.limit} per ${lengthWords(tight.periodMs)}`;
  return `${count(ahead, "run")} ahead, ${what}${tight.key === null ? "" : ` for ${tight.key}`}.`;
}

const external: ReadonlySet<TimelineEntry["kind"]> = new Set(["effect", "fetch"]);

export function cancelWords(run: RunDetail, effects: readonly EffectItem[]): string {
  const kept = effects.filter(({ state }) => state === "sent");
  const said = kept
    .slice(0, 3)
    .map(
      ({ destination, receipt, step }) =>
        `What ${step} made at ${destination}${receipt === null ? "" : `, ${receipt},`} is not deleted.`,
    );
  const unknown =
    run.timeline.some(({ kind, state }) => state === "completed" && external.has(kind)) && kept.length === 0;
  return [
    "Steps that finished stay finished.",
    ...said,
    ...(unknown ? ["What they sent to others is not taken back."] : []),
    ...(kept.length > 3 ? [`Nor are ${kept.length - 3} more.`] : []),
  ].join(" ");
}

/** The step a person most likely came for. */
export function tellingStep(run: RunDetail): TimelineEntry | undefined {
  const { timeline } = run;
  return (
    timeline.find(({ state }) => state === "failed") ??
    timeline.find(({ state }) => state === "retrying") ??
    timeline.find(({ kind }) => kind === "effect") ??
    timeline.findLast((entry) => !isWait(entry) && !isRemark(entry) && entry.kind !== "function") ??
    timeline[0]
  );
}

/** A step's name where it is the only one of it, else its id: what stands in the address. */
export function stepParams({ timeline }: RunDetail): (entry: TimelineEntry) => string {
  const counts = new Map<string, number>();
  for (const { name } of timeline) counts.set(name, (counts.get(name) ?? 0) + 1);
  return ({ stepId, name }) => (stepId === "" ? "function" : counts.get(name) === 1 ? name : stepId);
}

export const stepOfParam = (run: RunDetail, param: string | undefined): TimelineEntry | undefined =>
  param === undefined
    ? undefined
    : run.timeline.find(
        ({ stepId, name }) => stepId === param || name === param || (stepId === "" && param === "function"),
      );

/** Frames of the author's code first: the rest is the engine's and its libraries'. */
export function framesOf(stack: string): { readonly own: readonly string[]; readonly rest: readonly string[] } {
  const frames = stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^at /.test(line) || /@.*:\d+:\d+$/.test(line));
  const isOwn = (line: string) => !/node_modules|node:internal|\(node:|at node:|\/idem\/(src|dist)\//.test(line);
  return { own: frames.filter(isOwn), rest: frames.filter((line) => !isOwn(line)) };
}
