// The table of docs/verify.md#endpoints-webhooks-and-ticks as code: what arrived × its caller's last answer × what the outside holds → verdict. Pure.
import { compareThings, type Difference, type Volatile } from "../compare-things.ts";
import { effectOf, type Judged, numberWord, titleOf, unknownsOf } from "../judge.ts";
import type { Adversity } from "../schedules.ts";
import type { CallOutcome, CallPlan, CallRecord } from "./call-script.ts";

export interface CallReference {
  /** By name: one clean call of each, and of those that come in a certain order. */
  readonly clean: Readonly<Record<string, CallRecord>>;
  readonly volatile: Volatile;
}

const held = (...notes: readonly string[]): Judged => ({ verdict: "HELD", thing: "", effect: null, notes });

const isTaken = ({ status }: CallOutcome): boolean => status !== null && status < 400;

export function judgeCalls(world: CallRecord, plan: CallPlan, reference: CallReference): Judged {
  const [unknown] = unknownsOf(world);
  if (unknown !== undefined) return unknown;
  const expected = plan.expected.map((call) => reference.clean[call]!);
  const difference = compareThings(world, expected, reference.volatile);
  if (plan.note !== undefined && difference.more.length + difference.other.length === 0)
    return difference.less.length > 0 ? held(plan.note) : held();
  return (
    judgeMore(world, plan, difference) ??
    judgeOthers(world, plan, difference, reference) ??
    judgeLess(world, plan, difference, reference) ??
    judgeRefused(world, plan) ??
    held()
  );
}

function judgeMore(world: CallRecord, { refused }: CallPlan, { more, other }: Difference): Judged | null {
  const [thing = other[0]] = more;
  if (thing === undefined) return null;
  const title = titleOf(thing);
  const count = world.things.filter((each) => titleOf(each) === title).length;
  const who = refused === undefined ? "" : `, by a call that had to be refused`;
  const what =
    more.length === 0
      ? `${title} holds another state than after a clean call`
      : count > 1
        ? `${numberWord(count)} of ${title}${who}`
        : `${title}, which a clean call does not make`;
  return { verdict: "DOUBLED", thing: what, effect: effectOf(world, thing), notes: [] };
}

/** Other work of which nothing is there: it was taken for the first. */
function judgeOthers(
  world: CallRecord,
  { expected }: CallPlan,
  { less }: Difference,
  { clean }: CallReference,
): Judged | null {
  if (expected.length < 2 || less.length === 0) return null;
  const lost = expected.find((call) => {
    const { things } = clean[call]!;
    return things.length > 0 && things.every((thing) => less.includes(thing));
  });
  const all = less.length >= Math.min(...expected.map((call) => clean[call]!.things.length));
  if (lost === undefined && !all) return null;
  const status = world.calls.at(-1)?.status ?? null;
  const told =
    status === null ? "" : status === 0 ? ", and its caller heard nothing of it" : `, and was answered ${status}`;
  const what = `no ${titleOf(less[0]!)} for other work: it was taken for the first${told}`;
  const effect = effectOf(clean[lost ?? expected[0]!]!, less[0]!);
  return { verdict: "LOST", thing: what, effect, notes: [] };
}

function judgeLess(
  world: CallRecord,
  { adversities, expected }: CallPlan,
  { less }: Difference,
  { clean }: CallReference,
): Judged | null {
  const [thing] = less;
  if (thing === undefined) return null;
  const title = titleOf(thing);
  const outcomes = world.calls.filter(({ call }) => call === "first");
  if (outcomes.some(({ isParked }) => isParked))
    return held(`parked for a person, who says what becomes of ${title}; the caller is told so`);
  const isWhole = world.things.length === 0;
  const isTold = outcomes.length > 0 && !outcomes.some(isTaken);
  const last = outcomes.at(-1)?.status ?? null;
  const answered = last === null ? "nobody answers" : `every try is answered ${last}`;
  const effect = effectOf(clean[expected[0] ?? ""] ?? world, thing);
  // A refused write did not happen, and the caller knows.
  if (isTold && isWhole && adversities.some(isRefusal))
    return held(`where ${title} is refused nothing happens, and the caller is told: ${answered}`);
  const what = isTold
    ? `${title} is missing for good: ${answered}`
    : `${title} is missing for good, and the caller was told that all is well`;
  return { verdict: isWhole ? "LOST" : "HALF", thing: what, effect, notes: [] };
}

const isRefusal = ({ kind }: Adversity): boolean => kind === "refused" || kind === "lost-answer";

/** Nothing came of it, and its sender believes otherwise. */
function judgeRefused({ calls }: CallRecord, { refused }: CallPlan): Judged | null {
  const outcome = calls.find(({ call }) => call === refused);
  if (outcome === undefined || !isTaken(outcome)) return null;
  // A forger may think what he likes.
  if (refused === "spoilt")
    return held(`a delivery with a bad signature is answered ${outcome.status}, and does nothing`);
  const thing = `another body under the same key was answered ${outcome.status}, as if it had been the first`;
  return { verdict: "LOST", thing, effect: null, notes: [] };
}
