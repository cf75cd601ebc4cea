// Things that need a person, in sentences, the worst first; pure, so that the sentences can be tested.
import { behindWords, moveWords } from "../../parts/line-words.ts";
import { lengthWords } from "../../parts/time-words.ts";
import { counted } from "../runs/group-words.ts";
import type { Overview, OverviewFunction } from "./overview-data.ts";

export interface Trouble {
  readonly kind: "doubled" | "failed" | "line" | "no-worker";
  readonly fn: OverviewFunction;
  readonly what: string;
  readonly more: string;
}

/** Of each kind each function once. */
export function troublesOf({ functions }: Pick<Overview, "functions">, now: number): Trouble[] {
  const doubled = functions
    .filter(({ slipped }) => slipped > 0)
    .map(
      (fn): Trouble => ({
        kind: "doubled",
        fn,
        what: `${counted(fn.slipped, "run")} of ${fn.id} ran again`,
        more: "though nobody asked for it.",
      }),
    );
  const failed = functions
    .filter(({ failed }) => failed > 0)
    .sort((a, b) => b.failed - a.failed)
    .map(
      (fn): Trouble => ({
        kind: "failed",
        fn,
        what: `${counted(fn.failed, "run")} of ${fn.id} failed`,
        more: `of ${counted(fn.ended, "run")} that ended.`,
      }),
    );
  const inLine = functions.filter(
    ({ line, pausedAt }) => line.waiting > 0 && line.behind !== null && pausedAt === null,
  );
  const without = inLine
    .filter(({ line }) => line.behind!.kind === "no-worker")
    .map(
      (fn): Trouble => ({
        kind: "no-worker",
        fn,
        what: `${counted(fn.line.waiting, "run")} of ${fn.id} ${fn.line.waiting === 1 ? "has" : "have"} no worker.`,
        more:
          fn.line.oldestAt === null
            ? ""
            : `The oldest has waited ${lengthWords(Math.max(0, now - fn.line.oldestAt))}. Nothing is lost.`,
      }),
    );
  const slow = inLine
    .filter(({ line }) => line.behind!.kind !== "no-worker")
    .sort((a, b) => b.line.waiting - a.line.waiting)
    .map(
      (fn): Trouble => ({
        kind: "line",
        fn,
        what: `${counted(fn.line.waiting, "run")} in line at ${fn.id}`,
        more: `behind ${behindWords(fn.line.behind!)}. ${moveWords(fn.line, now)}.`,
      }),
    );
  return [...doubled, ...failed, ...without, ...slow];
}
