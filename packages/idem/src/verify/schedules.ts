// Everything that can go wrong, each by a name that repeats it; and which of it to play, from the record of one clean run. Pure.

export type Side = "before" | "after";

const pairTimes = ["at-once", "as-seen", "after-end"] as const;

export type Adversity =
  | { readonly kind: "again"; readonly when: "at-once" | "later" | "after-end" }
  | { readonly kind: "other-id"; readonly when: "at-once" | "after-end" | "before-window-end" | "after-window-end" }
  | { readonly kind: "other-name"; readonly event: string; readonly order: "after" | "first" }
  | { readonly kind: "other-field"; readonly field: string }
  /** The second of two real events, which are one thing: together, as far apart as they came, and after the first one's run. */
  | { readonly kind: "pair"; readonly when: (typeof pairTimes)[number] }
  | { readonly kind: "twin"; readonly when: "at-once" | "after-end" }
  | { readonly kind: "die-at-effect"; readonly effect: number; readonly side: Side; readonly times: 1 | 2 }
  | { readonly kind: "die-at-commit"; readonly commit: number; readonly side: Side; readonly times: 1 | 2 }
  | { readonly kind: "lost-answer"; readonly effect: number }
  | { readonly kind: "refused"; readonly effect: number; readonly status: 500 | 429 | 409; readonly isAlways: boolean }
  | { readonly kind: "throw-after-effect"; readonly effect: number }
  | { readonly kind: "zombie"; readonly effect: number }
  | { readonly kind: "cancel"; readonly effect: number }
  | { readonly kind: "rerun"; readonly fromStep: string | null }
  | { readonly kind: "outage"; readonly effect: number }
  | { readonly kind: "wait"; readonly answer: "twice" | "timeout" }
  | { readonly kind: "replay" };

/** One adversity, or two of them; none is the clean run. */
export interface Schedule {
  readonly id: string;
  readonly adversities: readonly Adversity[];
}

export const cleanSchedule: Schedule = { id: "clean", adversities: [] };

/** The name a person repeats it by. */
export function nameOf(adversity: Adversity): string {
  switch (adversity.kind) {
    case "again":
      return `again-${adversity.when}`;
    case "other-id":
      if (adversity.when === "at-once" || adversity.when === "after-end") return `other-id-${adversity.when}`;
      return adversity.when;
    case "other-name":
      return `${adversity.order === "after" ? "other-name" : "swapped"}:${adversity.event}`;
    case "other-field":
      return `other-field:${adversity.field}`;
    case "pair":
      return `pair-${adversity.when}`;
    case "twin":
      return `twin-${adversity.when}`;
    case "die-at-effect":
      if (adversity.times === 2) return `die-twice-at-effect:${adversity.effect}`;
      return `die-${adversity.side}-effect:${adversity.effect}`;
    case "die-at-commit":
      if (adversity.times === 2) return `die-twice-at-commit:${adversity.commit}`;
      return `die-at-commit:${adversity.commit}:${adversity.side}`;
    case "refused":
      return `${adversity.isAlways ? "always" : "answer"}-${adversity.status}:${adversity.effect}`;
    case "rerun":
      return adversity.fromStep === null ? "rerun" : `rerun-from:${adversity.fromStep}`;
    case "wait":
      return `wait-${adversity.answer}`;
    case "replay":
      return "replay";
    default:
      return `${adversity.kind}:${adversity.effect}`;
  }
}

const encode = (name: string): string => name.replace(/[%+]/g, encodeURIComponent);

export const scheduleOf = (...adversities: readonly Adversity[]): Schedule =>
  adversities.length === 0
    ? cleanSchedule
    : { id: adversities.map((each) => encode(nameOf(each))).join("+"), adversities };

/** Null for a name that means nothing. */
export function readSchedule(id: string): Schedule | null {
  if (id === cleanSchedule.id) return cleanSchedule;
  // It may be typed by hand: a broken encoding means nothing.
  if (/%(?![0-9A-Fa-f]{2})/.test(id)) return null;
  const read = id.split("+").map((name) => readAdversity(decodeURIComponent(name)));
  return read.some((each) => each === null) ? null : scheduleOf(...(read as Adversity[]));
}

function readAdversity(name: string): Adversity | null {
  const [head = "", ...rest] = name.split(":");
  const text = rest.join(":");
  const effect = Number(text);
  const isCount = /^[1-9]\d{0,5}$/.test(text);
  const at = (made: (effect: number) => Adversity): Adversity | null => (isCount ? made(effect) : null);
  const refusal = /^(answer|always)-(500|429|409)$/.exec(head);
  if (refusal !== null) {
    const status = Number(refusal[2]) as 500 | 429 | 409;
    return at((k) => ({ kind: "refused", effect: k, status, isAlways: refusal[1] === "always" }));
  }
  switch (head) {
    case "again-at-once":
    case "again-later":
    case "again-after-end":
      return { kind: "again", when: head.slice("again-".length) as "at-once" };
    case "other-id-at-once":
    case "other-id-after-end":
      return { kind: "other-id", when: head.slice("other-id-".length) as "at-once" };
    case "before-window-end":
    case "after-window-end":
      return { kind: "other-id", when: head };
    case "pair-at-once":
    case "pair-as-seen":
    case "pair-after-end":
      return { kind: "pair", when: head.slice("pair-".length) as "at-once" };
    case "twin-at-once":
    case "twin-after-end":
      return { kind: "twin", when: head.slice("twin-".length) as "at-once" };
    case "other-name":
      return text === "" ? null : { kind: "other-name", event: text, order: "after" };
    case "swapped":
      return text === "" ? null : { kind: "other-name", event: text, order: "first" };
    case "other-field":
      return text === "" ? null : { kind: "other-field", field: text };
    case "die-before-effect":
      return at((k) => ({ kind: "die-at-effect", effect: k, side: "before", times: 1 }));
    case "die-after-effect":
      return at((k) => ({ kind: "die-at-effect", effect: k, side: "after", times: 1 }));
    case "die-twice-at-effect":
      return at((k) => ({ kind: "die-at-effect", effect: k, side: "after", times: 2 }));
    case "die-at-commit": {
      const [commit = "", side] = rest;
      if (!/^[1-9]\d{0,5}$/.test(commit) || (side !== "before" && side !== "after")) return null;
      return { kind: "die-at-commit", commit: Number(commit), side, times: 1 };
    }
    case "die-twice-at-commit":
      return at((commit) => ({ kind: "die-at-commit", commit, side: "before", times: 2 }));
    case "lost-answer":
    case "throw-after-effect":
    case "zombie":
    case "cancel":
    case "outage":
      return at((k) => ({ kind: head, effect: k }));
    case "rerun":
      return { kind: "rerun", fromStep: null };
    case "rerun-from":
      return text === "" ? null : { kind: "rerun", fromStep: text };
    case "wait-twice":
    case "wait-timeout":
      return { kind: "wait", answer: head === "wait-twice" ? "twice" : "timeout" };
    case "replay":
      return { kind: "replay" };
    default:
      return null;
  }
}

/** Facts from a clean run and about the function: they alone decide which schedules there are. */
export interface CleanFacts {
  readonly effectCount: number;
  /** Of these, those that happened in a step. */
  readonly effectsInSteps: readonly number[];
  /** At a destination that may remember a key, and forget it: neither rows nor files. */
  readonly effectsElsewhere: readonly number[];
  readonly commitCount: { readonly before: number; readonly after: number };
  /** Of these, those before which the function's code ran. */
  readonly commitsOfCode: readonly number[];
  readonly steps: readonly string[];
  readonly hasWaits: boolean;
  /** Somebody sends its events: a tick is nobody's to send again under another id. */
  readonly isSent: boolean;
  readonly hasKey: boolean;
  readonly isUnkeyed: boolean;
  /** Events that come together start one run. */
  readonly isBatched: boolean;
  /** Other names it listens to. */
  readonly otherNames: readonly string[];
  readonly hasTwin: boolean;
  /** Of the event's data, those that are not the entity's. */
  readonly otherFields: readonly string[];
}

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

const atCommit = (commit: number, side: Side): Extract<Adversity, { kind: "die-at-commit" }> => ({
  kind: "die-at-commit",
  commit,
  side,
  times: 1,
});

/** Every single adversity, those that show most for their time first. */
export function singles(facts: CleanFacts): Schedule[] {
  const effects = upTo(facts.effectCount);
  const adversities: Adversity[] = [
    ...effects.map((effect) => ({ kind: "die-at-effect", effect, side: "after", times: 1 }) as const),
    ...deliveries(facts),
    ...effects.map((effect) => ({ kind: "die-at-effect", effect, side: "before", times: 1 }) as const),
    ...upTo(facts.commitCount.after).map((commit) => atCommit(commit, "after")),
    ...effects.map((effect) => ({ kind: "zombie", effect }) as const),
    ...effects.map((effect) => ({ kind: "lost-answer", effect }) as const),
    { kind: "rerun", fromStep: null },
    { kind: "replay" },
    ...upTo(facts.commitCount.before).map((commit) => atCommit(commit, "before")),
    ...[true, false].flatMap((isAlways) =>
      effects.flatMap((effect) =>
        ([500, 429, 409] as const).map((status) => ({ kind: "refused", effect, status, isAlways }) as const),
      ),
    ),
    ...facts.effectsInSteps.map((effect) => ({ kind: "throw-after-effect", effect }) as const),
    ...effects.map((effect) => ({ kind: "die-at-effect", effect, side: "after", times: 2 }) as const),
    ...facts.commitsOfCode.map((commit) => ({ ...atCommit(commit, "before"), times: 2 }) as const),
    ...facts.steps.map((fromStep) => ({ kind: "rerun", fromStep }) as const),
    ...(facts.hasWaits ? ([{ kind: "wait", answer: "twice" }] as const) : []),
    ...effects.map((effect) => ({ kind: "cancel", effect }) as const),
    ...facts.effectsElsewhere.map((effect) => ({ kind: "outage", effect }) as const),
  ];
  return adversities.map((each) => scheduleOf(each));
}

function deliveries(facts: CleanFacts): Adversity[] {
  if (!facts.isSent) return [{ kind: "again", when: "at-once" }];
  const again = (["at-once", "later", "after-end"] as const).map((when) => ({ kind: "again", when }) as const);
  // Two events of one batch leave something else outside than the sum of each alone.
  const twinTimes = facts.isBatched ? (["after-end"] as const) : (["after-end", "at-once"] as const);
  const twins = twinTimes.map((when) => ({ kind: "twin", when }) as const);
  const otherIds: Adversity[] = facts.isUnkeyed
    ? []
    : [
        { kind: "other-id", when: "after-end" },
        ...(facts.isBatched ? [] : [{ kind: "other-id", when: "at-once" } as const]),
        ...(facts.hasKey
          ? (["before-window-end", "after-window-end"] as const).map((when) => ({ kind: "other-id", when }) as const)
          : []),
        ...facts.otherNames.flatMap((event) =>
          (["after", "first"] as const).map((order) => ({ kind: "other-name", event, order }) as const),
        ),
      ];
  const fields = facts.hasKey ? facts.otherFields.map((field) => ({ kind: "other-field", field }) as const) : [];
  return [...otherIds, ...(facts.hasTwin ? twins : []), ...again, ...fields];
}

/** Schedules for two real events that are taken for one thing. */
export const pairSchedules: readonly string[] = pairTimes.map((when) => scheduleOf({ kind: "pair", when }).id);

/** Whether every wait is in vain in it: then it is compared with a clean run of its own. */
export const isInVain = ({ adversities }: Schedule): boolean =>
  adversities.some((each) => each.kind === "wait" && each.answer === "timeout");

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** Why an adversity that was asked for by its name cannot happen to this function. */
export function whyNotHappened(adversity: Adversity, facts: CleanFacts): string {
  const { effectCount, effectsInSteps, commitCount, steps, hasWaits } = facts;
  switch (adversity.kind) {
    case "die-at-commit":
      return `a clean run has ${counted(commitCount[adversity.side], "commit")}`;
    case "wait":
      return hasWaits ? "none of its waits came to it" : "the function waits for nothing";
    case "rerun":
      return adversity.fromStep === null || steps.includes(adversity.fromStep)
        ? "the run could not be rerun so"
        : `the function has no step "${adversity.fromStep}" that does something`;
    case "pair":
      return "no second event was given with --events";
    case "twin":
      return "no twin could be made of the event";
    case "other-name":
      return `the function does not listen to ${adversity.event}`;
    case "other-field":
      return `the event has no other field "${adversity.field}"`;
    case "replay":
      return "the function records no step";
    case "again":
    case "other-id":
      return "the event was not delivered again";
    default:
      if (adversity.effect > effectCount) return `the function has ${counted(effectCount, "effect")}`;
      if (adversity.kind === "throw-after-effect" && !effectsInSteps.includes(adversity.effect))
        return `effect ${adversity.effect} happens in no step`;
      return `effect ${adversity.effect} is none to which this can happen`;
  }
}

/** A handler of a run's end is entered only where a run ends so: that adversity, with each that may meet the handler's own effects. */
export function* inHandler(end: Adversity, effects: readonly number[]): Generator<Schedule> {
  for (const effect of effects) {
    yield scheduleOf(end, { kind: "die-at-effect", effect, side: "after", times: 1 });
    yield scheduleOf(end, { kind: "die-at-effect", effect, side: "before", times: 1 });
    yield scheduleOf(end, { kind: "lost-answer", effect });
    yield scheduleOf(end, { kind: "throw-after-effect", effect });
    yield scheduleOf(end, { kind: "refused", effect, status: 500, isAlways: false });
  }
}

/** Two adversities in one world, those first that are likeliest to meet. As many as there is time for. */
export function* pairs(facts: CleanFacts): Generator<Schedule> {
  const effects = upTo(facts.effectCount);
  const losses = effects.flatMap((effect): Adversity[] => [
    { kind: "die-at-effect", effect, side: "after", times: 1 },
    { kind: "lost-answer", effect },
    { kind: "zombie", effect },
  ]);
  const others = deliveries(facts).filter(
    ({ kind, ...rest }) =>
      kind !== "other-field" && !("when" in rest && (rest.when === "after-window-end" || rest.when === "later")),
  );
  for (const loss of losses) for (const other of others) yield scheduleOf(loss, other);
  for (const loss of losses) yield scheduleOf(loss, { kind: "rerun", fromStep: null });
  for (const [i, one] of losses.entries()) for (const two of losses.slice(i + 1)) yield scheduleOf(one, two);
  for (const effect of effects) {
    for (const commit of upTo(facts.commitCount.after)) {
      yield scheduleOf({ kind: "lost-answer", effect }, atCommit(commit, "after"));
      yield scheduleOf({ kind: "refused", effect, status: 500, isAlways: true }, atCommit(commit, "after"));
    }
  }
}
