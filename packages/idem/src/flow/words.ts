// A function's flow options in words: for a cell of a table, for its page. The words of each option stand in its folder.
import { batchWords } from "./batch/words.ts";
import { cancelOnWords } from "./cancel-on/words.ts";
import { concurrencyWords, slotWords } from "./concurrency/words.ts";
import { debounceWords } from "./debounce/words.ts";
import type { LaneLimit } from "./lane.ts";
import type { FlowLine, InLineWords, OptionWords } from "./option-words.ts";
import type { FlowConfig } from "./options.ts";
import { priorityWords } from "./priority/words.ts";
import { rateLimitWords } from "./rate-limit/words.ts";
import { singletonWords } from "./singleton/words.ts";
import { spacedWords, throttleWords } from "./throttle/words.ts";

type Words = { readonly [Name in keyof FlowConfig]-?: OptionWords<NonNullable<FlowConfig[Name]>> };

const words: Words = {
  concurrency: concurrencyWords,
  throttle: throttleWords,
  rateLimit: rateLimitWords,
  debounce: debounceWords,
  batch: batchWords,
  singleton: singletonWords,
  priority: priorityWords,
  cancelOn: cancelOnWords,
};

const told = Object.entries(words) as readonly [keyof FlowConfig, OptionWords<unknown>][];

/** "2 at once by event.data.user; throttle 10 in 1 min"; "–" for a function without limits. */
export function flowText(flow: FlowConfig): string {
  const parts = told.flatMap(([name, { cell }]) => (flow[name] === undefined ? [] : cell(flow[name])));
  return parts.length === 0 ? "–" : parts.join("; ");
}

/** `length`: how the page writes a length of time. */
export const flowLines = (flow: FlowConfig, length: (ms: number) => string): FlowLine[] =>
  told.flatMap(([name, { lines }]) =>
    flow[name] === undefined || lines === undefined ? [] : lines(flow[name], length),
  );

export const inLineWords: Readonly<Record<LaneLimit["kind"], InLineWords>> = {
  concurrency: slotWords,
  throttle: spacedWords,
};
