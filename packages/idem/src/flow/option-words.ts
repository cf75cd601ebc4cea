// An option in words for people.
import { lengthText } from "../model/length-text.ts";
import type { LaneLimit } from "./lane.ts";

export interface OptionWords<Config> {
  /** A few words each, for one cell of a table. */
  cell(config: Config): readonly string[];
  /** For the page of its function, unless that shows it by what is in use; `length`: how the page writes a length of time. */
  lines?(config: Config, length: (ms: number) => string): readonly FlowLine[];
}

/** Words for a run in line: `of` says of which key and whose, `count` how many of a thing. */
export type InLineWords = (
  of: string,
  limit: Pick<LaneLimit, "limit" | "periodMs" | "temporary"> & { readonly used: number | null },
  count: (count: number, one: string) => string,
) => string;

export interface FlowLine {
  readonly name: string;
  readonly text: string;
  readonly isCode?: true;
}

/** In a cell. */
export const by = (key: string | null): string => (key === null ? "" : ` by ${key}`);

/** In a line. */
export const forEach = (key: string | null): string => (key === null ? "" : ` for each ${key}`);

export const rateText = ({ limit, periodMs }: { readonly limit: number; readonly periodMs: number }): string =>
  `${limit} in ${lengthText(periodMs)}`;
