// Kept at a recovery point: the answers of the phases so far, and when each effect that has not answered was tried.
import type { Point } from "../../keys/key-store.ts";
import type { AnyPhases } from "./phases.ts";

export interface PhaseState {
  readonly done: Readonly<Record<string, unknown>>;
  /** By this process's clock, in milliseconds. */
  readonly tried: Readonly<Record<string, Tried>>;
}

export interface Tried {
  readonly first: number;
  readonly last: number;
}

/** Before any phase; not a name a phase can have. */
const start = "(start)";

export const stateOf = (point: Point | null): PhaseState =>
  point === null ? { done: {}, tried: {} } : (JSON.parse(point.data) as PhaseState);

export const pointOf = (list: AnyPhases["list"], state: PhaseState): Point => ({
  name: list.findLast(({ name }) => Object.hasOwn(state.done, name))?.name ?? start,
  data: JSON.stringify(state),
});

export type Position =
  | { readonly kind: "at"; readonly index: number }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Where the list goes on. A list that was changed while a record was unfinished is found out here, and a person decides: to go on at a guess
 * could leave a phase out, or do one twice.
 */
export function positionOf({ name, list }: AnyPhases, point: Point | null): Position {
  if (point === null || point.name === start) return { kind: "at", index: 0 };
  const names = list.map((phase) => phase.name);
  const unknown = (why: string): Position => ({ kind: "unknown", why: `${why} (${name}: ${names.join(", ")})` });
  const reached = names.indexOf(point.name);
  if (reached === -1) return unknown(`it reached the point "${point.name}", which is none of the phases any more`);
  const { done } = stateOf(point);
  const expected = names.slice(0, reached + 1);
  const missing = expected.find((each) => !Object.hasOwn(done, each));
  if (missing !== undefined) {
    return unknown(`it reached the point "${point.name}" without the phase "${missing}", which is before it now`);
  }
  const removed = Object.keys(done).find((each) => !expected.includes(each));
  if (removed !== undefined) {
    return unknown(`it has done the phase "${removed}", which is not before the point "${point.name}" any more`);
  }
  return { kind: "at", index: reached + 1 };
}
