/** The value at a dotted path, own properties only; null where there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const part of path.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return null;
    at = (at as Record<string, unknown>)[part];
  }
  return at ?? null;
}
