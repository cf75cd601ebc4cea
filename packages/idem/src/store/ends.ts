// Ends of runs, counted by function and stretch of time, for charts and headlines. A run ends once, and the commit that says so notes it:
// notes lie where they do not make writers wait for each other, and a sweep adds them to the counts. Reads add up both.
import type { DurationSketch } from "../model/duration-sketch.ts";
import type { EndState } from "../model/run.ts";
import { hourMs } from "./counts.ts";

export const minuteMs = 60_000;

/** By the hour for as long as anybody asks; by the minute for the last few hours. */
export const endSteps = [minuteMs, hourMs] as const;
export type EndStep = (typeof endSteps)[number];

/** Minutes are for "the last hour" and for how fast a line moves. */
export const minutesKeptMs = 3 * hourMs;

/** A run whose end is committed now. */
export interface EndedRun {
  readonly fn: string;
  readonly state: EndState;
  readonly createdAt: number;
  /** Null for one that never began. */
  readonly startedAt: number | null;
}

/** Ends of one function's runs in one stretch of time. */
export interface EndCount {
  /** When the stretch began. */
  readonly at: number;
  readonly fn: string;
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  /** When the oldest of them was created: none of them is before it in a list of runs. */
  readonly oldest: number;
  /** From start to end, of those that had begun. */
  readonly took: DurationSketch;
}

export interface EndFilter {
  readonly since: number;
  readonly until: number;
  readonly stepMs: EndStep;
  readonly fn?: string;
}

export const floorTo = (ms: number, stepMs: number): number => Math.floor(ms / stepMs) * stepMs;

/** Milliseconds between spaces, as a note has them. */
export function durationsText(runs: readonly EndedRun[], now: number): string {
  let text = "";
  for (const { startedAt } of runs) {
    if (startedAt === null) continue;
    const ms = Math.max(0, now - startedAt);
    text += text === "" ? ms : ` ${ms}`;
  }
  return text;
}

export const readDurations = (text: string): number[] => (text === "" ? [] : text.split(" ").map(Number));
