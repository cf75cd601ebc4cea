// Whether two outsides are the same. Things are counted by what they are, without what differs from one clean run to the next and without what
// a destination made up. Pure.
import type { Json, Thing, WorldRecord } from "./thing.ts";

/** Where values differ between two clean runs: by kind of thing, the paths into it. */
export interface Volatile {
  readonly isVolatile: (kind: string, pointer: string) => boolean;
  readonly pointers: readonly string[];
}

export interface Difference {
  readonly more: readonly Thing[];
  /** As many, in another state. */
  readonly other: readonly Thing[];
  readonly less: readonly Thing[];
}

const mask = "‹volatile›";
const madeMark = "‹made›";

/** Of one collection: the segment that names it, if it looks like a name. */
function kindOf({ watcher, destination, path, isAddressed }: Thing): string {
  const segment = path.at(isAddressed ? -2 : -1) ?? "";
  return `${watcher} ${destination} ${path.length} ${/^[A-Za-z][A-Za-z._-]{0,40}$/.test(segment) ? segment : ""}`;
}

type Outside = Pick<WorldRecord, "things" | "madeIds">;

/** Two clean runs, under another clock and other chance. Null when they do not make the same number of things. */
export function learnVolatile(one: Outside, two: Outside): Volatile | null {
  if (one.things.length !== two.things.length) return null;
  const found = new Set<string>();
  for (const [i, a] of one.things.entries()) {
    const b = two.things[i]!;
    const kind = kindOf(a);
    if (kind !== kindOf(b)) return null;
    const left = plain(a, new Set(one.madeIds));
    const right = plain(b, new Set(two.madeIds));
    for (const pointer of differences(left, right, "")) found.add(`${kind} ${pointer}`);
  }
  return { isVolatile: (kind, pointer) => found.has(`${kind} ${pointer}`), pointers: [...found] };
}

/** The thing as data, ids that destinations made up replaced by a mark. */
function plain(thing: Thing, made: ReadonlySet<string>): Json {
  const state =
    typeof thing.state === "object" && thing.state !== null && !Array.isArray(thing.state)
      ? Object.fromEntries(Object.entries(thing.state).filter(([name]) => !thing.made.includes(name)))
      : thing.state;
  return replaceMade({ path: thing.path, state: state as Json }, made);
}

function replaceMade(value: Json, made: ReadonlySet<string>): Json {
  if (typeof value === "string") return made.has(value) ? madeMark : value;
  if (Array.isArray(value)) return value.map((each) => replaceMade(each, made));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaceMade(each, made)]));
  }
  return value;
}

const isRecord = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A thing that is itself a list (a file's lines) grows: a field volatile in one element is volatile in all. */
const inList = (at: string, i: number): string => (at === "/state" ? "/state/*" : `${at}/${i}`);

function differences(a: Json, b: Json, at: string): string[] {
  if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
    return a.flatMap((each, i) => differences(each, b[i] as Json, inList(at, i)));
  }
  if (isRecord(a) && isRecord(b)) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.flatMap((name) => differences(a[name] ?? null, b[name] ?? null, `${at}/${name}`));
  }
  return JSON.stringify(a) === JSON.stringify(b) ? [] : [at];
}

function masked(value: Json, kind: string, of: Volatile, at: string): Json {
  if (at !== "" && of.isVolatile(kind, at)) return mask;
  if (Array.isArray(value)) return value.map((each, i) => masked(each, kind, of, inList(at, i)));
  if (isRecord(value)) {
    const names = Object.keys(value).sort();
    return Object.fromEntries(names.map((name) => [name, masked(value[name]!, kind, of, `${at}/${name}`)]));
  }
  return value;
}

interface Named {
  readonly thing: Thing;
  /** All of it. */
  readonly whole: string;
  /** Where it is, if that says which one it is: a name that is another one each time does not. */
  readonly address: string | null;
  readonly state: Json;
}

function named(outside: Outside, volatile: Volatile): Named[] {
  const made = new Set(outside.madeIds);
  return outside.things.map((thing) => {
    const kind = kindOf(thing);
    const value = masked(plain(thing, made), kind, volatile, "") as { path: Json; state: Json };
    const where = `${thing.watcher} ${thing.destination}`;
    // A path that is another each time says which one it is to nobody: such things are counted.
    const path = JSON.stringify(value.path);
    const isAddressed = thing.isAddressed && !path.includes(mask) && !path.includes(madeMark);
    return {
      thing,
      whole: `${where} ${JSON.stringify(value)}`,
      address: isAddressed ? `${where} ${path}` : null,
      state: value.state,
    };
  });
}

const namedBefore = new WeakMap<Volatile, WeakMap<Outside, Named[]>>();

/** Of a clean run, with which every world is compared. */
function namedOnce(clean: Outside, volatile: Volatile): Named[] {
  const before = namedBefore.get(volatile) ?? new WeakMap<Outside, Named[]>();
  namedBefore.set(volatile, before);
  const known = before.get(clean) ?? named(clean, volatile);
  before.set(clean, known);
  return known;
}

/** The value as an amount, or how far it was moved (row-things.ts). */
function amountOf(value: Json | undefined): number | null {
  if (value === undefined) return 0;
  if (typeof value === "number") return value;
  const moved = isRecord(value) ? value.moved : null;
  return typeof moved === "number" && Object.keys(value as object).length === 1 ? moved : null;
}

/** Each piece of work added to it. */
function isSum(value: Json, parts: readonly (Json | undefined)[]): boolean {
  const amount = amountOf(value);
  const amounts = parts.map(amountOf);
  if (amount === null || amounts.includes(null)) return false;
  return Math.abs(amounts.reduce<number>((sum, each) => sum + each!, 0) - amount) < 1e-9;
}

/** Whether it holds what each piece of work put there: the elements of all their lists, the fields of all their records. */
function holdsAll(state: Json, expected: readonly Json[]): boolean {
  if (Array.isArray(state)) {
    const prints = (list: readonly Json[]): string => JSON.stringify(list.map((each) => JSON.stringify(each)).sort());
    return expected.every(Array.isArray) && prints(state) === prints(expected.flat());
  }
  if (!isRecord(state) || !expected.every(isRecord)) return false;
  const names = new Set(expected.flatMap((each) => Object.keys(each)));
  const has = (name: string): boolean => {
    const parts = expected.map((each) => (each as Record<string, Json>)[name]);
    return parts.some((part) => JSON.stringify(part) === JSON.stringify(state[name])) || isSum(state[name]!, parts);
  };
  return Object.keys(state).length === names.size && [...names].every(has);
}

/** `expected` are clean runs, one for each piece of work. An addressed thing exists once, in the state any of them left it, or all of them together. */
export function compareThings(world: Outside, expected: readonly Outside[], volatile: Volatile): Difference {
  const have = named(world, volatile);
  const want = expected.map((each) => namedOnce(each, volatile));
  const more: Thing[] = [];
  const other: Thing[] = [];
  const less: Thing[] = [];
  const states = new Map<string, Set<string>>();
  const parts = new Map<string, Json[]>();
  const firstAt = new Map<string, Thing>();
  const counts = new Map<string, { left: number; thing: Thing }>();
  for (const { thing, whole, address, state } of want.flat()) {
    if (address !== null) {
      parts.set(address, [...(parts.get(address) ?? []), state]);
      states.set(address, (states.get(address) ?? new Set()).add(whole));
      firstAt.set(address, firstAt.get(address) ?? thing);
      continue;
    }
    const known = counts.get(whole);
    if (known === undefined) counts.set(whole, { left: 1, thing });
    else known.left++;
  }
  for (const { thing, whole, address, state } of have) {
    if (address !== null) {
      const right = states.get(address);
      if (right === undefined) more.push(thing);
      else if (!right.has(whole) && !holdsAll(state, parts.get(address)!)) other.push(thing);
      firstAt.delete(address);
      continue;
    }
    const known = counts.get(whole);
    if (known === undefined || known.left === 0) more.push(thing);
    else known.left--;
  }
  less.push(...firstAt.values());
  for (const { left, thing } of counts.values()) for (let i = 0; i < left; i++) less.push(thing);
  return { more, other, less };
}
