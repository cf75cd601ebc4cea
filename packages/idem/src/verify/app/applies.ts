// Which schedules can happen to an app that is called over HTTP (docs/verify.md has the table). Pure.
import type { Adversity, Schedule } from "../schedules.ts";

/** Its steps are entered by its own SDK: nobody can make one throw that did not. The rest of it, a step that fails when its effect has happened, is a lost answer. */
export const appliesToApp = ({ adversities }: Schedule): boolean =>
  adversities.every(({ kind }) => kind !== "throw-after-effect");

/** A world takes a second, and there may not be time for all: the first of these show most. A kind that finds what another one finds comes late. */
const order: readonly ((adversity: Adversity) => boolean)[] = [
  (each) => each.kind === "die-at-effect" && each.side === "after" && each.times === 1,
  (each) => each.kind === "other-id" && each.when === "after-end",
  (each) => each.kind === "twin" && each.when === "after-end",
  (each) => each.kind === "refused" && each.isAlways && each.status === 500,
  ({ kind }) => kind === "replay",
  (each) => each.kind === "rerun" && each.fromStep === null,
  (each) => each.kind === "die-at-commit" && each.times === 1,
  (each) => each.kind === "other-name" || each.kind === "again",
  (each) => each.kind === "refused" && each.status === 409,
  (each) => each.kind === "zombie" || each.kind === "wait",
  (each) => each.kind === "die-at-effect" && each.side === "before",
];

export const rankOfApp = ({ adversities: [first] }: Schedule): number => {
  const found = first === undefined ? -1 : order.findIndex((isIt) => isIt(first));
  return found === -1 ? order.length : found;
};
