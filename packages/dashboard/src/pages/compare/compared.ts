// Two runs laid side by side: their events, their steps by id, their outputs; and the three sentences that answer first.

import { nameOf } from "../run/rows.ts";
import type { RunAnswer, TimelineEntry } from "../run/run-data.ts";
import { count } from "../run/run-words.ts";
import { type Difference, differencesOfTexts } from "./differences.ts";

export interface Side {
  readonly answer: RunAnswer;
  /** Stored texts: of the event, of the output, and of steps by their id; null when too large to compare here. */
  readonly event: string | null;
  readonly output: string | null;
  readonly steps: ReadonlyMap<string, string | null>;
}

export interface Part {
  readonly title: string;
  readonly rows: readonly Difference[];
  /** Short paths that are the same, to name a few. */
  readonly same: readonly { readonly path: string; readonly text: string }[];
  /** What `same` is made of; fields by default. */
  readonly noun?: "step";
  /** Said of the part as a whole: too large, only in one of them. */
  readonly note: string | null;
}

export interface Compared {
  readonly parts: readonly Part[];
  readonly sentences: readonly { readonly title: string; readonly words: string; readonly isLoud: boolean }[];
  readonly isSame: boolean;
}

const tooLarge = "Too large to compare here: open both and download them.";

export function compareRuns(one: Side, other: Side): Compared {
  const event = eventPart(one, other);
  const steps = stepParts(one, other);
  const output = payloadPart("Output", one.output, other.output);
  const hasOutput = one.answer.run.output !== null && other.answer.run.output !== null;
  const isEqual = ({ rows, note }: Part) => rows.length === 0 && note === null;
  const equal = steps
    .filter(isEqual)
    .map(({ title }) => ({ path: title.replace(/^Step /, ""), text: "the same outcome" }));
  const rest: Part = { title: "Steps without a difference", rows: [], same: equal, note: null, noun: "step" };
  const differing = steps.filter((part) => !isEqual(part));
  const parts = [event, ...differing, ...(hasOutput ? [output] : []), ...(equal.length > 0 ? [rest] : [])];
  const isSameEvent = one.answer.event.internalId === other.answer.event.internalId;
  const telling = event.rows.filter(({ isExpected }) => !isExpected);
  const outcomes = steps.filter(
    ({ rows, note }) => note !== null || rows.some(({ isExpected, path }) => !isExpected && path !== keyPath),
  );
  return {
    parts,
    isSame: telling.length === 0 && outcomes.length === 0,
    sentences: [eventSentence(telling, event, isSameEvent), sameSentence(event), outcomeSentence(outcomes)],
  };
}

const keyPath = "destination key";
const sendsKeys: ReadonlySet<TimelineEntry["kind"]> = new Set(["effect", "fetch"]);

function eventPart(one: Side, other: Side): Part {
  const [a, b] = [one.answer.event, other.answer.event];
  const data = payloadPart("Event", one.event, other.event, { ids: true });
  const fields: Difference[] = [];
  const same: { path: string; text: string }[] = [];
  const add = (path: string, first: string, second: string, isExpected: boolean) => {
    if (first === second) same.push({ path, text: first });
    else fields.push({ path, one: first, other: second, isExpected });
  };
  add("event.id", a.id, b.id, true);
  add("event.name", a.name, b.name, false);
  const under = <Each extends { readonly path: string }>(each: Each): Each => ({
    ...each,
    path: each.path === "" ? "data" : `data.${each.path}`,
  });
  return { ...data, rows: [...fields, ...data.rows.map(under)], same: [...same, ...data.same.map(under)] };
}

function payloadPart(
  title: string,
  one: string | null,
  other: string | null,
  options: { readonly ids?: boolean } = {},
): Part {
  if (one === null || other === null) return { title, rows: [], same: [], note: tooLarge };
  const { differing, same, isAll } = differencesOfTexts(one, other, options);
  return {
    title,
    rows: differing,
    same,
    note: isAll ? null : "Only the beginning is compared: there is more than fits.",
  };
}

function stepParts(one: Side, other: Side): Part[] {
  const second = new Map(other.answer.run.timeline.map((entry) => [entry.stepId, entry]));
  const first = new Set(one.answer.run.timeline.map(({ stepId }) => stepId));
  return [
    ...one.answer.run.timeline.map((entry) => stepPart(entry, second.get(entry.stepId), one, other)),
    ...other.answer.run.timeline
      .filter(({ stepId }) => !first.has(stepId))
      .map((entry) => stepPart(undefined, entry, one, other)),
  ].filter(({ rows, same, note }) => rows.length + same.length > 0 || note !== null);
}

function stepPart(a: TimelineEntry | undefined, b: TimelineEntry | undefined, one: Side, other: Side): Part {
  const title = `Step ${nameOf((a ?? b)!)}`;
  if (a === undefined || b === undefined)
    return { title, rows: [], same: [], note: `Only in run ${a === undefined ? 2 : 1}.` };
  if (a.kind === "sleep" && a.state === b.state) return { title, rows: [], same: [], note: null };
  const rows: Difference[] = [];
  const same: { path: string; text: string }[] = [];
  if (a.state !== b.state) rows.push({ path: "state", one: a.state, other: b.state, isExpected: false });
  const isBoth = a.output !== null && b.output !== null;
  const outcome = isBoth
    ? payloadPart(title, one.steps.get(a.stepId) ?? null, other.steps.get(b.stepId) ?? null)
    : null;
  if (a.error !== null || b.error !== null) pushText(rows, same, "error", a.error?.message, b.error?.message);
  const named = <Each extends { readonly path: string }>(each: Each): Each => ({
    ...each,
    path: each.path === "" ? "value" : each.path,
  });
  rows.push(...(outcome?.rows ?? []).map(named));
  same.push(...(outcome?.same ?? []).map(named));
  // A key given to code that sent nothing is no news; where something was sent or differs, it is.
  const isTelling = sendsKeys.has(a.kind) || rows.some(({ isExpected }) => !isExpected);
  if (isTelling && (a.destinationKey !== null || b.destinationKey !== null))
    pushText(rows, same, keyPath, a.destinationKey ?? "none", b.destinationKey ?? "none");
  return { title, rows, same, note: outcome?.note ?? null };
}

function pushText(
  rows: Difference[],
  same: { path: string; text: string }[],
  path: string,
  one: string | undefined,
  other: string | undefined,
): void {
  if (one === other) same.push({ path, text: one ?? "" });
  else rows.push({ path, one, other, isExpected: false });
}

const lastName = (path: string): string => path.replace(/^data\./, "");
const shortChars = 40;
const short = (text: string | undefined): string =>
  text === undefined ? "nothing" : text.length > shortChars ? `${text.slice(0, shortChars)}…` : text;

function eventSentence(telling: readonly Difference[], { rows }: Part, isSameEvent: boolean) {
  if (isSameEvent)
    return { title: "Both ran for the same event", words: "a person asked for the second", isLoud: false };
  const ids = rows.length - telling.length;
  const [first] = telling;
  if (first === undefined)
    return {
      title: "No field of the events differs",
      words: ids > 0 ? "only ids and times, which always do" : "they are the same",
      isLoud: false,
    };
  const more =
    telling.length > 1
      ? `; and ${telling
          .slice(1, 4)
          .map(({ path }) => lastName(path))
          .join(", ")}${telling.length > 4 ? ", …" : ""}`
      : "";
  return {
    title: `${count(telling.length, "field")} of the events ${telling.length === 1 ? "differs" : "differ"}`,
    words: `${lastName(first.path)}: ${short(first.one)}, then ${short(first.other)}${more}${ids > 0 ? " (and ids or times)" : ""}`,
    isLoud: true,
  };
}

function sameSentence({ same }: Part) {
  const names = same.filter(({ path }) => path.startsWith("data.")).map(({ path }) => lastName(path));
  const shown = names.slice(0, 4);
  const more = same.length - shown.length;
  return {
    title: `${count(same.length, "field")} ${same.length === 1 ? "is" : "are"} the same`,
    words:
      shown.length === 0
        ? same.length === 0
          ? "the events have nothing in common"
          : "the event's name"
        : `${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}`,
    isLoud: false,
  };
}

function outcomeSentence(outcomes: readonly Part[]) {
  if (outcomes.length === 0)
    return { title: "No outcome differs", words: "every step left the same in both", isLoud: false };
  const names = outcomes.map(({ title }) => title.replace(/^Step /, ""));
  return {
    title: `${count(outcomes.length, "outcome")} ${outcomes.length === 1 ? "differs" : "differ"}`,
    words: `${names.slice(0, 3).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`,
    isLoud: true,
  };
}
