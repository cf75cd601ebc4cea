// JSON as a text that is the same for two bodies that mean the same: keys sorted by code unit at every level, no space between, strings
// decoded, and every number kept as it was written. JSON.parse would read 9007199254740993 and …992 as one amount.
import { jsonDepthMax } from "../../model/json.ts";

export interface FieldView {
  /** Paths of fields that are left out; `meta.attempt` also stands for the field of every element when `meta` is a list. */
  readonly omit?: readonly string[];
  /** Only these, and what is under them. */
  readonly pick?: readonly string[];
}

/** Null without a safe form: no JSON, a key twice in one object, nested deeper than `jsonDepthMax`. Its bytes are compared then. */
export function canonicalJson(text: string, view: FieldView = {}): string | null {
  let at = 0;

  const skipSpace = (): void => {
    for (;;) {
      const code = text.charCodeAt(at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      at++;
    }
  };

  const takes = (char: string): boolean => {
    skipSpace();
    if (text[at] !== char) return false;
    at++;
    return true;
  };

  /** As JSON writes it: the same text for the same characters, however they were escaped. */
  const readString = (): string | null => {
    const end = text.indexOf('"', at + 1);
    if (end === -1) return null;
    const token = text.slice(at, end + 1);
    if (!token.includes("\\")) {
      at = end + 1;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has none inside a string
      return /[\x00-\x1f]/.test(token) ? null : token;
    }
    return readEscaped();
  };

  const readEscaped = (): string | null => {
    const begin = at++;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 0x5c) at++;
      else if (code === 0x22) {
        try {
          return JSON.stringify(JSON.parse(text.slice(begin, ++at)));
        } catch {
          return null;
        }
      }
    }
    return null;
  };

  const readLiteral = (): string | null => {
    literal.lastIndex = at;
    const found = literal.exec(text)?.[0];
    if (found === undefined) return null;
    at += found.length;
    return found;
  };

  const readList = (place: Place, depth: number): string | null => {
    at++;
    const items: string[] = [];
    if (takes("]")) return "[]";
    do {
      const item = readValue(place, depth + 1);
      if (item === null) return null;
      items.push(item);
    } while (takes(","));
    return takes("]") ? `[${items.join(",")}]` : null;
  };

  const readObject = (place: Place, depth: number): string | null => {
    at++;
    const names = new Set<string>();
    const fields: (readonly [string, string])[] = [];
    if (takes("}")) return "{}";
    do {
      skipSpace();
      const name = text[at] === '"' ? readString() : null;
      if (name === null || names.has(name) || !takes(":")) return null;
      names.add(name);
      const below = placeOf(place, name);
      const field = readValue(below ?? whole, depth + 1);
      if (field === null) return null;
      if (below !== null) fields.push([name, field]);
    } while (takes(","));
    if (!takes("}")) return null;
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, field]) => `${name}:${field}`).join(",")}}`;
  };

  const readValue = (place: Place, depth: number): string | null => {
    if (depth > jsonDepthMax) return null;
    skipSpace();
    switch (text[at]) {
      case "{":
        return readObject(place, depth);
      case "[":
        return readList(place, depth);
      case '"':
        return readString();
      default:
        return readLiteral();
    }
  };

  const value = readValue(placeAtTop(view), 0);
  skipSpace();
  return at === text.length ? value : null;
}

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** One step of the paths of a view: what may come next, and whether a path ends here. */
interface PathStep {
  readonly next: Map<string, PathStep>;
  isEnd: boolean;
}

/** Where a value stands in a view. Steps, not a path: one name of a mebibyte would be looked at again with every field under it. */
interface Place {
  /** Null where nothing further down is left out. */
  readonly omit: PathStep | null;
  /** Null where everything further down is looked at. */
  readonly pick: PathStep | null;
}

const whole: Place = { omit: null, pick: null };

function placeAtTop({ omit, pick }: FieldView): Place {
  return {
    omit: omit === undefined || omit.length === 0 ? null : stepsOf(omit),
    pick: pick === undefined ? null : stepsOf(pick),
  };
}

function stepsOf(paths: readonly string[]): PathStep {
  const top: PathStep = { next: new Map(), isEnd: false };
  for (const path of paths) {
    let step = top;
    // A dot inside a name is not a step down: it is written `\.`.
    for (const name of path.split(/(?<!\\)\./)) {
      const below = step.next.get(name) ?? { next: new Map(), isEnd: false };
      step.next.set(name, below);
      step = below;
    }
    step.isEnd = true;
  }
  return top;
}

/** Null for a field that is left out. `name` as JSON writes it. */
function placeOf({ omit, pick }: Place, name: string): Place | null {
  if (omit === null && pick === null) return whole;
  const step = (JSON.parse(name) as string).replaceAll(".", "\\.");
  const omitted = omit?.next.get(step) ?? null;
  if (omitted?.isEnd === true) return null;
  if (pick === null) return omitted === null ? whole : { omit: omitted, pick: null };
  const picked = pick.next.get(step);
  if (picked === undefined) return null;
  return { omit: omitted, pick: picked.isEnd ? null : picked };
}
