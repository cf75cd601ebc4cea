// The machine as it was before this thread replaced its clock, timers and chance. Loaded before anything else.
import fs from "node:fs";

export const realSetImmediate = globalThis.setImmediate;
export const realSetTimeout = globalThis.setTimeout;
export const realClearTimeout = globalThis.clearTimeout;
export const realFetch = globalThis.fetch;
/** Before they note every header for `node:http`. Named as globals are: without the names their types would be of a package users may lack. */
export const RealHeaders: typeof globalThis.Headers = globalThis.Headers;
export const RealResponse: typeof globalThis.Response = globalThis.Response;
export const RealDate = globalThis.Date;
/** `Date` by another clock. */
export const dateBy = (now: () => number): DateConstructor =>
  new Proxy(RealDate, {
    construct: (target, args, as) => Reflect.construct(target, args.length === 0 ? [now()] : args, as) as object,
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === "now" ? now : (Reflect.get(target, name) as unknown)),
  });
const { performance } = globalThis;
const now = performance.now.bind(performance);
/** Milliseconds of the real steady clock. */
export const realMonoMs = (): number => now();
export const realTurn = (): Promise<void> => new Promise((resolve) => realSetImmediate(resolve));
export const realParse = JSON.parse;
const { readFileSync } = fs;
/** The text of a file as it is on disk; null where it cannot be read. */
export function realReadFile(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
