// The table of docs/verify.md as code: adversity × how the run ended × what the outside holds → verdict. Pure; a function for each group of rows, asked in
// the table's order.
import { type Verdict, verdicts } from "../model/verdict.ts";
import { tellAbsent } from "./absent-fields.ts";
import { compareThings, type Difference, type Volatile } from "./compare-things.ts";
import { type Adversity, readSchedule } from "./schedules.ts";
import type { Place, SeenEffect, Thing, WorldRecord } from "./thing.ts";

export const worstOf = (found: readonly Verdict[]): Verdict =>
  verdicts.find((verdict) => found.includes(verdict)) ?? "HELD";

/** The judgement of one world. */
export interface Judged {
  readonly verdict: Exclude<Verdict, "ACCEPTED">;
  /** The subject, for a person: "two of POST api.stripe.com/v1/invoices". */
  readonly thing: string;
  /** The effect concerned. */
  readonly effect: SeenEffect | null;
  /** The line concerned, where that is not the effect's. */
  readonly place?: Place;
  readonly notes: readonly string[];
}

export interface Reference {
  /** One clean run of the event, and of the twin's. */
  readonly clean: WorldRecord;
  readonly twin: WorldRecord | null;
  readonly volatile: Volatile;
  /** Functions that handle the end of others: what they make is no part of a clean run. */
  readonly endHandlers: readonly string[];
  /** Things they make where nothing goes wrong with them; only for worlds in which they are entered. */
  readonly handled?: readonly Thing[];
}

const held = (notes: readonly string[] = []): Judged => ({ verdict: "HELD", thing: "", effect: null, notes });

export function judge(world: WorldRecord, reference: Reference): Judged {
  const adversities = readSchedule(world.schedule)?.adversities ?? [];
  return (
    judgeReplay(world) ??
    judgeUnwatched(world) ??
    judgeOpen(world) ??
    judgeOutside(world, adversities, reference) ??
    held()
  );
}

function judgeUnwatched(world: WorldRecord): Judged | null {
  return unknownsOf(world)[0] ?? null;
}

/** Everything that reached outside and nobody saw, and every field the code used in vain. */
export function unknownsOf({ unproven, absent }: WorldRecord): Judged[] {
  const unknown = { verdict: "UNPROVEN", effect: null, notes: [] } as const;
  return [
    ...unproven.map((thing) => ({ ...unknown, thing })),
    ...tellAbsent(absent.filter(({ isUsed }) => isUsed)).map((told) => ({ ...unknown, ...told })),
  ];
}

function judgeOpen({ isOpen, runs }: WorldRecord): Judged | null {
  if (isOpen) return { verdict: "UNPROVEN", thing: "the run does not come to its end", effect: null, notes: [] };
  if (runs.length > 0) return null;
  return { verdict: "UNPROVEN", thing: "the event started no run", effect: null, notes: [] };
}

export function judgeReplay({ divergences, effects }: WorldRecord): Judged | null {
  const [first] = divergences;
  if (first === undefined) return null;
  const asked = first.asked === null ? "nothing in its place" : `step "${first.asked}" in its place`;
  const effect = effects.find(({ step }) => step === first.asked) ?? effects.find(({ step }) => step === first.step);
  const thing = `a replay did not ask for step "${first.step}", which was recorded, and asked for ${asked}`;
  return { verdict: "DIVERGED", thing, effect: effect ?? null, notes: [] };
}

function judgeOutside(world: WorldRecord, adversities: readonly Adversity[], reference: Reference): Judged | null {
  const { clean, twin, volatile } = reference;
  const isTwinned = adversities.some(({ kind }) => kind === "twin");
  const expected = isTwinned && twin !== null ? [clean, twin] : [clean];
  const mine = withoutHandlers(world, reference);
  const difference = compareThings(mine, expected, volatile);
  return (
    judgeRight(world, difference, adversities) ??
    judgeMore(world, difference) ??
    judgeHandlers(world, reference) ??
    judgeTwin(difference, isTwinned ? twin : null, clean) ??
    judgeLess(world, difference, clean) ??
    judgeLoud(world)
  );
}

function withoutHandlers(world: WorldRecord, { endHandlers }: Reference): WorldRecord {
  if (endHandlers.length === 0) return world;
  return { ...world, things: world.things.filter(({ by }) => by === null || !endHandlers.includes(by)) };
}

/** Running again is what was asked for: said, and no fault. */
function judgeRight(
  world: WorldRecord,
  { more, other, less }: Difference,
  adversities: readonly Adversity[],
): Judged | null {
  const field = adversities.find((each) => each.kind === "other-field");
  if (field !== undefined) {
    const isSwallowed = more.length + other.length + less.length === 0;
    return held(isSwallowed ? [`an event for the same thing with another ${field.field} starts nothing`] : []);
  }
  const extra = [...more, ...other];
  if (extra.length === 0) return null;
  if (world.isPastWindow) {
    return held(["after the key's window another event for the same thing runs again, which is right"]);
  }
  // People and outages come when they come; what the function itself waits for is its own.
  const isLateByOthers = adversities.some(({ kind }) => ["outage", "rerun", "zombie"].includes(kind)) || world.wasRerun;
  const isForgotten = extra.every((thing) => effectOf(world, thing)?.isForgotten === true);
  if (!isLateByOthers || !isForgotten) return null;
  const what = titleOf(extra[0]!);
  return held([
    `tried again when the destination has forgotten its key, it happens again: ${what}; step.effect looks it up instead`,
  ]);
}

function judgeMore(world: WorldRecord, { more, other }: Difference): Judged | null {
  const [thing] = more;
  if (thing !== undefined) {
    const count = world.things.filter((each) => titleOf(each) === titleOf(thing)).length;
    const what =
      count > 1 ? `${numberWord(count)} of ${titleOf(thing)}` : `${titleOf(thing)}, which a clean run does not make`;
    return { verdict: "DOUBLED", thing: what, effect: effectOf(world, thing), notes: [] };
  }
  const [changed] = other;
  if (changed === undefined) return null;
  const what = `${titleOf(changed)} holds another state than after a clean run`;
  return { verdict: "DOUBLED", thing: what, effect: effectOf(world, changed), notes: [] };
}

/** Handlers of failures make their things once for each failed run. */
function judgeHandlers(world: WorldRecord, { endHandlers, volatile, handled = [] }: Reference): Judged | null {
  const made = world.things.filter(({ by }) => by !== null && endHandlers.includes(by));
  const failed = world.runs.filter(({ state }) => state === "failed" || state === "cancelled").length;
  for (const thing of made) {
    const one = { things: [thing], madeIds: world.madeIds };
    const same = made.filter((each) => {
      const { more, other } = compareThings({ things: [each], madeIds: world.madeIds }, [one], volatile);
      return more.length + other.length === 0;
    });
    if (same.length <= Math.max(1, failed)) continue;
    const what = `${numberWord(same.length)} of ${titleOf(thing)} for ${failed} failed ${failed === 1 ? "run" : "runs"}`;
    return { verdict: "DOUBLED", thing: what, effect: effectOf(world, same.at(-1)!), notes: [] };
  }
  if (failed === 0) return null;
  const { madeIds } = world;
  const [missing] = compareThings({ things: made, madeIds }, [{ things: handled, madeIds }], volatile).less;
  if (missing === undefined) return null;
  const effect = world.effects.find(({ fn, title }) => fn === missing.by && title.endsWith(titleOf(missing))) ?? null;
  return { verdict: "HALF", thing: `${titleOf(missing)} is missing for good`, effect, notes: [] };
}

/** Nothing of one of the two events is there: the other one's key swallowed it. */
function judgeTwin({ less }: Difference, twin: WorldRecord | null, clean: WorldRecord): Judged | null {
  if (twin === null || less.length === 0) return null;
  const isWhole = [clean, twin].some(
    ({ things }) => things.length > 0 && things.every((thing) => less.includes(thing)),
  );
  if (!isWhole) return null;
  const [thing] = less;
  const what = `no ${titleOf(thing!)} for another entity: its event was taken for the first one's`;
  return { verdict: "LOST", thing: what, effect: effectOf(clean, thing!) ?? effectOf(twin, thing!), notes: [] };
}

function judgeLess(world: WorldRecord, { less }: Difference, clean: WorldRecord): Judged | null {
  const [thing] = less;
  if (thing === undefined) return null;
  if (isParked(world)) return held([`parked for a person, who says what becomes of ${titleOf(thing)}`]);
  const isWhole = less.length >= clean.things.length && !world.wasRerun;
  const what = isWhole ? `no ${titleOf(thing)}, and nothing makes up for it` : `${titleOf(thing)} is missing for good`;
  const effect = effectOf(clean, thing);
  return { verdict: isWhole ? "LOST" : "HALF", thing: what, effect, notes: [] };
}

/** The run is left to a person, or the outcome of a `step.effect`: its run fails, and a rerun parks it again. */
const isParked = ({ runs, parked }: WorldRecord): boolean =>
  parked.length > 0 || runs.some(({ state }) => state === "parked");

function judgeLoud(world: WorldRecord): Judged | null {
  if (isParked(world)) return held(["parked for a person, and nothing is missing"]);
  return world.wasRerun ? held(["it failed loudly where a destination refused, and was complete after a rerun"]) : null;
}

export const effectOf = ({ effects, sent }: WorldRecord, { effect }: Thing): SeenEffect | null =>
  [...effects, ...sent].find(({ index }) => index === effect) ?? null;

/** "POST api.stripe.com/v1/invoices" without what differs from one to the next. */
export const titleOf = ({ watcher, destination, path }: Thing): string =>
  watcher === "events" ? `event ${path.join("/")}` : `${destination}/${path.join("/")}`;

export const numberWord = (count: number): string =>
  ["no", "one", "two", "three", "four", "five"][count] ?? String(count);
