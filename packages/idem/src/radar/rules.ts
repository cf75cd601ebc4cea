// Rules of what is too often: "more than N runs for one entity within T". People keep rules as settings; one stands by itself.
import { parseDuration } from "../model/duration.ts";
import { errors } from "../model/errors.ts";

/** The kind of setting a rule is kept as. */
export const ruleKind = "radar-rule";

/** The entity of each function: its key where it has one, else our best guess among the fields of its events. */
export const bestGuess = "best-guess";
export const ofKey = "key";
/** The entity of a recorded effect, as its step said (model/effect.ts). */
export const ofEntity = "entity";

export interface RadarRule {
  readonly name: string;
  /** More than this many. */
  readonly more: number;
  readonly what: "runs" | "events" | "effects";
  /** `best-guess`, `key`, the path of a field: `event.data.placementId`; for effects `entity`. */
  readonly of: string;
  readonly withinMs: number;
  /** Only this function; null for every one. */
  readonly fn: string | null;
  readonly isMuted: boolean;
}

export const defaultRule: RadarRule = {
  name: "default",
  more: 1,
  what: "runs",
  of: bestGuess,
  withinMs: 60_000,
  fn: null,
  isMuted: false,
};

// Longer spans are a key's business: the radar remembers an hour.
const withinMsMax = 60 * 60 * 1_000;
const withinMsMin = 1_000;
const moreMax = 1_000;
export const rulesMax = 50;
const fieldPath = /^event\.data(\.[A-Za-z_][A-Za-z0-9_]*|\["[^"\\]{1,100}"\]){1,4}$/;

export interface RuleInput {
  readonly more?: number | undefined;
  readonly what?: string | undefined;
  readonly of?: string | undefined;
  readonly within?: string | number | undefined;
  readonly function?: string | null | undefined;
  readonly muted?: boolean | undefined;
}

/** Refuses what cannot be watched. */
export function makeRule(name: string, input: RuleInput, over: RadarRule = { ...defaultRule, name }): RadarRule {
  const refuse = (option: string, why: string) => errors.OPTION_INVALID({ option, why });
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) {
    throw refuse("name", "it must be 1 to 64 small letters, digits or dashes");
  }
  const more = input.more ?? over.more;
  const what = input.what ?? over.what;
  const of = input.of ?? (what === "effects" ? ofEntity : over.of);
  const withinMs = input.within === undefined ? over.withinMs : parseDuration(input.within, "within");
  const fn = input.function === undefined ? over.fn : input.function;
  if (!Number.isInteger(more) || more < 1 || more > moreMax) {
    throw refuse("more", `it must be a whole number from 1 to ${moreMax}`);
  }
  if (what !== "runs" && what !== "events" && what !== "effects") {
    throw refuse("what", "it must be runs, events or effects");
  }
  if (withinMs < withinMsMin || withinMs > withinMsMax) throw refuse("within", "it must be from 1s to 1h");
  const isDefault = name === defaultRule.name;
  if (isDefault && (what !== "runs" || of !== bestGuess || fn !== null)) {
    throw refuse("name", "the default rule watches runs of every function; make another rule for anything else");
  }
  if (!isDefault && of === bestGuess) throw refuse("of", 'say "key", or a field such as event.data.placementId');
  if ((what === "effects") !== (of === ofEntity) || (what === "effects" && fn !== null)) {
    throw refuse("of", 'effects are counted by "entity", of every function, and nothing else is');
  }
  if (of !== bestGuess && of !== ofKey && of !== ofEntity && !fieldPath.test(of)) {
    throw refuse("of", 'it must be "key" or the path of a field, such as event.data.placementId');
  }
  if (what === "events" && (of === ofKey || fn !== null)) {
    throw refuse("of", "events have no key of a function: name a field, and no function");
  }
  return { name, more, what, of, withinMs, fn, isMuted: input.muted ?? over.isMuted };
}

/** The rules in force, the default one first. */
export function readRules(settings: readonly { readonly name: string; readonly value: string }[]): RadarRule[] {
  const kept = settings.map(({ value }) => JSON.parse(value) as RadarRule);
  return [
    kept.find(({ name }) => name === defaultRule.name) ?? defaultRule,
    ...kept.filter(({ name }) => name !== defaultRule.name),
  ];
}
