// Whose code is running, by async context: an effect from a timer belongs to the life that set the timer, whatever else runs by then.
import { AsyncLocalStorage } from "node:async_hooks";
import { fileURLToPath } from "node:url";
import { StepBody } from "../../execute/step-body.ts";
import type { Place } from "../thing.ts";
import type { Life } from "./life.ts";
import { isOurs } from "./our-folder.ts";

/** `L` is what stands for its process: a life of a thread's world; a process itself knows of no other. */
export interface Caller<L = Life> {
  readonly life: L;
  /** Null outside any function: code of a module, of a client's own. */
  readonly run: {
    readonly fn: string;
    readonly runId: string;
    isOver: boolean;
    /** It is no run of the engine's, but a call of a handler. */
    readonly isCall?: boolean;
  } | null;
  /** Where the effect was asked for, if somebody looked; null where no line of the user's is. */
  readonly place?: Place | null;
  /** The step it was asked for in, where another process said so. */
  readonly step?: StepAtWork | null;
}

export interface StepAtWork {
  readonly step: string;
  readonly isOver: boolean;
}

const callers = new AsyncLocalStorage<Caller<unknown>>();

/** Stands in where the async context names no caller. */
let standing: Caller<unknown> | null = null;

/** In a process of an app all code is this process's; in a thread it is of the life that its async context says. */
export const standFor = (caller: Caller<unknown>): void => {
  standing = caller;
};

export const currentCaller = <L = Life>(): Caller<L> | null =>
  ((callers.getStore() ?? standing) as Caller<L> | undefined) ?? null;

export const asCaller = <T>(caller: Caller<unknown>, body: () => T): T => callers.run(caller, body);

const unwatched = new AsyncLocalStorage<true>();

export const isUnwatched = (): boolean => unwatched.getStore() === true;

/** Really, on the machine's own time: for what is let out on purpose. */
export const asMachine = <T>(body: () => T): T => callers.exit(() => unwatched.run(true, body));

/** Remembers where the user's code asked for an effect, for what is done further down. */
export function fromHere<T>(body: () => T): T {
  const caller = callers.getStore();
  if (caller === undefined || caller.place !== undefined) return body();
  return callers.run({ ...caller, place: placeHere(fromHere) }, body);
}

// Most calls stand right above; what an SDK puts between is written down, and mapped to its sources, only where they do not.
const framesNear = 4;
const framesMax = 60;

/** The user's line that led to the call of `below`. */
export function placeHere(below: (...args: never[]) => unknown): Place | null {
  return placeIn(stackAbove(below, framesNear), isOurs) ?? placeIn(stackAbove(below, framesMax), isOurs);
}

export function stackAbove(below: (...args: never[]) => unknown, frames: number): string {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = frames;
  const holder: { stack?: string } = {};
  Error.captureStackTrace(holder, below);
  const { stack = "" } = holder;
  Error.stackTraceLimit = before;
  return stack;
}

export const stepHere = (): StepAtWork | null => StepBody.current();

export const stepOf = ({ step }: Pick<Caller, "step">): StepAtWork | null => (step === undefined ? stepHere() : step);

const frame = /(?:\(|at (?:async )?)((?:file:\/\/)?(?:\/|[A-Za-z]:[\\/]).+?):(\d+)(?::(\d+))?\)?$/;

const inPackage = /[\\/]node_modules[\\/]/;

/** Where the code was written that stands at this place. */
let sourceOf: (place: Place) => Place = (place) => place;

/** Of code that was built, for stacks that do not show it themselves. */
export const readSourcesBy = (find: typeof sourceOf): void => {
  sourceOf = find;
};

/** Where a line of a stack stands, if it is the user's: not a package's, not ours, and no code that was made of a text. */
export function ownPlace(line: string, isOurs: (file: string) => boolean): Place | null {
  const [, written, row, column] = line.includes("eval at ") ? [] : (frame.exec(line.trim()) ?? []);
  if (written === undefined) return null;
  const plain = written.replace(/\?.*$/, "");
  const stands = plain.startsWith("file:") ? fileURLToPath(plain) : plain;
  if (isOurs(stands) || inPackage.test(stands)) return null;
  const place = sourceOf({ file: stands, line: Number(row), column: Number(column ?? 1) });
  return isOurs(place.file) || inPackage.test(place.file) ? null : place;
}

/** The first frame that is the user's: not a package's, not ours. */
export function placeIn(stack: string | null, isOurs: (file: string) => boolean): Place | null {
  if (stack === null) return null;
  for (const line of stack.split("\n")) {
    const place = ownPlace(line, isOurs);
    if (place !== null) return place;
  }
  return null;
}
