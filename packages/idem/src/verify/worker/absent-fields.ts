// Notices which fields the user's code reads of answers that a model made up and that do not have them. A client or an SDK that parses such an answer is
// given it with a prototype that sees what is asked for in vain; fields that are there are read as ever.
import { usesField } from "../absent-fields.ts";
import { patternOf } from "../recordings.ts";
import type { AbsentField, Json, Place } from "../thing.ts";
import { placeIn, stackAbove } from "./caller.ts";
import { isOurs } from "./our-folder.ts";
import { realParse, realReadFile } from "./real.ts";

/** A request whose answer was made up. */
interface Asked {
  readonly method: string;
  readonly url: URL;
}

/** The place of such an answer in a text's value. */
interface Held {
  readonly path: readonly string[];
  readonly of: Asked;
}

/** Asked of everything by the language itself. */
const everybodys = new Set(["then", "toJSON"]);

export class AbsentFields {
  private readonly texts = new Map<string, readonly Held[]>();
  private readonly origins = new WeakMap<object, Asked>();
  private readonly reads = new Map<string, Omit<AbsentField, "isUsed"> & { readonly name: string }>();

  /** `given`: data that somebody did give, however much an answer looks like it. */
  constructor(private readonly given: readonly Json[]) {}

  watch(text: string, of: Asked): void {
    if (!this.given.some((each) => JSON.stringify(each) === text)) this.texts.set(text, [{ path: [], of }]);
  }

  /** Somebody gave just this. */
  trust(text: string): void {
    this.texts.delete(text);
  }

  /** A step's value is kept as text and read again: parts of it that are of an answer are watched there, too. */
  carry(value: unknown): void {
    const held: Held[] = [];
    const seen = new Set<object>();
    const visit = (at: unknown, path: readonly string[]): void => {
      if (typeof at !== "object" || at === null || seen.has(at)) return;
      seen.add(at);
      const of = this.origins.get(at);
      if (of !== undefined) held.push({ path, of });
      else if (isPlain(at)) for (const [name, each] of Object.entries(at)) visit(each, [...path, name]);
    };
    visit(value, []);
    if (held.length > 0) this.texts.set(JSON.stringify(value), held);
  }

  parsed(text: string, value: unknown): unknown {
    for (const { path, of } of this.texts.get(text) ?? []) {
      this.seeThrough(
        path.reduce((at, name) => (at as Record<string, unknown> | undefined)?.[name], value),
        of,
        "",
      );
    }
    return value;
  }

  private seeThrough(value: unknown, of: Asked, at: string): void {
    if (typeof value !== "object" || value === null) return;
    if (Array.isArray(value)) {
      for (const each of value) this.seeThrough(each, of, `${at}[]`);
      return;
    }
    this.origins.set(value, of);
    for (const [name, each] of Object.entries(value)) this.seeThrough(each, of, at === "" ? name : `${at}.${name}`);
    const get = (target: object, name: string | symbol, receiver: unknown): unknown => {
      if (typeof name === "symbol" || name in target || everybodys.has(name))
        return Reflect.get(target, name, receiver);
      const reader = readerAbove(get);
      if (reader !== null) this.note(of, at === "" ? name : `${at}.${name}`, name, reader);
      return undefined;
    };
    Object.setPrototypeOf(value, new Proxy(Object.prototype, { get }));
  }

  private note({ method, url }: Asked, field: string, name: string, place: Place): void {
    const path = patternOf(url.pathname);
    const print = `${method} ${url.host}${path} ${field} ${place.file}:${place.line}:${place.column}`;
    if (!this.reads.has(print)) this.reads.set(print, { method, host: url.host, path, field, name, place });
  }

  found(): AbsentField[] {
    return [...this.reads.values()].map(({ name, ...read }) => {
      const isUsed = usesField(realReadFile(read.place.file)?.split("\n") ?? [], read.place, name);
      return { ...read, isUsed };
    });
  }
}

const isPlain = (value: object): boolean =>
  Array.isArray(value) || [null, Object.prototype].includes(Object.getPrototypeOf(value) as object | null);

/** The place at which the user's own code read it; null for a package's or the machine's, which look at everything. */
function readerAbove(below: (...args: never[]) => unknown): Place | null {
  return placeIn(stackAbove(below, 1), isOurs);
}

let current: AbsentFields | null = null;

/** From now on, of the world that is played. */
export function watchAbsent(fields: AbsentFields): void {
  current = fields;
}

/** A step's value, before it is kept. */
export const carryAbsent = (value: unknown): void => current?.carry(value);

/** Once for the thread: every client and SDK reads answers by this. */
export function watchParsing(): void {
  JSON.parse = (text: string, reviver?: (this: unknown, key: string, value: unknown) => unknown): unknown => {
    const value: unknown = realParse(text, reviver);
    return current === null || reviver !== undefined || typeof text !== "string" ? value : current.parsed(text, value);
  };
}
