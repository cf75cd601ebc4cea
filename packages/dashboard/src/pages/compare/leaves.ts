// A payload as paths and the text that stands at each. Read from stored text, so that two large numbers that differ in their last
// digit differ here too. Nothing recurs and everything is bounded: a payload may be as deep as its sender likes.
import { entriesOf, type JsonSlice, sliceAt, stringOf } from "../../parts/json-text.ts";

export interface Leaves {
  /** `data.items[id=7].price` → `92.5`: the value's own JSON text. */
  readonly at: ReadonlyMap<string, string>;
  /** False when the payload has more than anybody compares. */
  readonly isAll: boolean;
}

const leavesMax = 5_000;
const depthMax = 40;
const pathCharsMax = 300;

export function leavesOf(text: string): Leaves {
  const at = new Map<string, string>();
  const open: { readonly path: string; readonly value: JsonSlice; readonly depth: number }[] = [
    { path: "", value: sliceAt(text), depth: 0 },
  ];
  let isAll = true;
  while (open.length > 0) {
    if (at.size >= leavesMax) return { at, isAll: false };
    const { path, value, depth } = open.pop()!;
    const inner = value.kind === "object" || value.kind === "array" ? entriesOf(text, value, leavesMax) : null;
    if (inner === null || inner.count === 0 || depth >= depthMax) {
      if (inner !== null && inner.count > 0) isAll = false;
      at.set(path, text.slice(value.start, value.end));
      continue;
    }
    if (inner.count > inner.entries.length) isAll = false;
    const ids = value.kind === "array" ? idsOf(text, inner.entries) : null;
    const below = inner.entries.map((entry, i) => {
      const name =
        typeof entry.name === "string"
          ? path === ""
            ? entry.name
            : `${path}.${entry.name}`
          : `${path}[${ids === null ? entry.name : `id=${ids[i]}`}]`;
      return { path: name.slice(0, pathCharsMax), value: entry.value, depth: depth + 1 };
    });
    open.push(...below.reverse());
  }
  return { at, isAll };
}

/** Lists are matched by `id` where every entry has one of its own; else by place. */
function idsOf(text: string, entries: readonly { readonly value: JsonSlice }[]): string[] | null {
  const ids: string[] = [];
  for (const { value } of entries) {
    if (value.kind !== "object") return null;
    const id = entriesOf(text, value, 50).entries.find(({ name }) => name === "id")?.value;
    if (id === undefined || (id.kind !== "string" && id.kind !== "number")) return null;
    ids.push(plainText(text.slice(id.start, Math.min(id.end, id.start + 100))));
  }
  return new Set(ids).size === ids.length ? ids : null;
}

/** A string without its quotes; everything else as it stands. */
export const plainText = (literal: string): string => (literal.startsWith('"') ? stringOf(literal) : literal);
