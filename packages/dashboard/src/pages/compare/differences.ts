// The differences of two payloads, path by path, and which are expected: ids of deliveries and times are never the same twice.
import { type Leaves, leavesOf, plainText } from "./leaves.ts";

export interface Difference {
  readonly path: string;
  /** As people read it; undefined where the path is not there. */
  readonly one: string | undefined;
  readonly other: string | undefined;
  /** It says nothing that it differs. */
  readonly isExpected: boolean;
}

export interface Differences {
  readonly differing: readonly Difference[];
  /** Paths that are the same in both, with their text. */
  readonly same: readonly { readonly path: string; readonly text: string }[];
  readonly isAll: boolean;
}

/** `ids`: whether an id that differs was to be expected. Two events have two ids; two invoices are the trouble itself. */
export function differencesOfTexts(
  one: string,
  other: string,
  { ids = false }: { readonly ids?: boolean } = {},
): Differences {
  if (one === other) {
    const { at, isAll } = leavesOf(one);
    return { differing: [], same: [...at].map(([path, literal]) => ({ path, text: plainText(literal) })), isAll };
  }
  return compare(leavesOf(one), leavesOf(other), ids);
}

export const differencesOf = (one: unknown, other: unknown): Differences =>
  differencesOfTexts(JSON.stringify(one) ?? "null", JSON.stringify(other) ?? "null");

function compare(one: Leaves, other: Leaves, ids: boolean): Differences {
  const differing: Difference[] = [];
  const same: { path: string; text: string }[] = [];
  for (const path of new Set([...one.at.keys(), ...other.at.keys()])) {
    const [a, b] = [one.at.get(path), other.at.get(path)];
    if (a === b) same.push({ path, text: plainText(a!) });
    else differing.push({ path, ...readable(a, b), isExpected: isExpected(path, a, b, ids) });
  }
  return { differing, same, isAll: one.isAll && other.isAll };
}

/** Quotes are shown only where they alone differ, as in 7 and "7". */
function readable(
  a: string | undefined,
  b: string | undefined,
): { readonly one: string | undefined; readonly other: string | undefined } {
  const [one, other] = [a === undefined ? undefined : plainText(a), b === undefined ? undefined : plainText(b)];
  return one === other ? { one: a, other: b } : { one, other };
}

const idLike =
  /(^|[._-])(event|delivery|message|request|trace|webhook|nonce)?_?-?(id|uuid|guid)$|(event|delivery|message|request|trace|webhook)Id$|^id$/i;
const timeLike = /(time|timestamp|date|at|ts|on|created|updated|received|sent)$/i;
const timeText = /^"?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|^"?1[0-9]{9}(\.\d+)?"?$|^"?1[0-9]{12}"?$/;

function isExpected(path: string, a: string | undefined, b: string | undefined, ids: boolean): boolean {
  const name = /([^.[\]]+)(?:\[[^\]]*\])?$/.exec(path)?.[1] ?? path;
  if (ids && idLike.test(name)) return true;
  return timeLike.test(name) && timeText.test(a ?? b ?? "") && timeText.test(b ?? a ?? "");
}

const wholeChars = 200;
const aroundChars = 40;

/** Of long values only the part that differs, with a little around it. */
export function differingPart(text: string, against: string | undefined): string {
  if (text.length <= wholeChars) return text;
  const other = against ?? "";
  let from = 0;
  while (from < text.length && from < other.length && text.charCodeAt(from) === other.charCodeAt(from)) from++;
  let end = text.length;
  for (let i = other.length; end > from && i > from && text.charCodeAt(end - 1) === other.charCodeAt(i - 1); i--) end--;
  const start = Math.max(0, from - aroundChars);
  const stop = Math.min(text.length, Math.min(end, from + wholeChars) + aroundChars);
  return `${start > 0 ? "…" : ""}${text.slice(start, stop)}${stop < text.length ? "…" : ""}`;
}
