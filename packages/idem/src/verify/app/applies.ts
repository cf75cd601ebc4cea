// Which schedules can happen to an app that is called over HTTP (docs/verify.md has the table). Pure.
import type { Schedule } from "../schedules.ts";

/** Its steps are entered by its own SDK: nobody can make one throw that did not. What is left of it, a step that fails when its effect has happened, is a lost answer. */
export const appliesToApp = ({ adversities }: Schedule): boolean =>
  adversities.every(({ kind }) => kind !== "throw-after-effect");
