// Former ids of a renamed step, function or app (`was`).

/** Ids it had, the first one ever first: everything of it is recorded under that one. */
export type FormerIds = readonly [string, ...string[]];

/** Null where nothing was said; `wrong` makes the caller's own error. */
export function readFormerIds(own: string, was: unknown, wrong: (why: string) => Error): FormerIds | null {
  if (was === undefined) return null;
  const [first, ...later]: readonly unknown[] = Array.isArray(was) ? was : [was];
  const ids = [first, ...later];
  if (!ids.every((id) => typeof id === "string" && id !== "")) {
    throw wrong("`was` must be the id it had before, or a list of them");
  }
  if (new Set(ids).size < ids.length) throw wrong("`was` names an id twice");
  if (first === own) throw wrong("`was` begins with the id it has now; the first id it ever had comes first");
  return ids as [string, ...string[]];
}
