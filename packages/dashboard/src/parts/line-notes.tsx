// Notes over a function that does not get on: how many are in line behind what, or that it is paused. The same on every page.
import type { ReactNode } from "react";
import { behindWords, type LineNow, moveWords, workWords } from "./line-words.ts";
import { Note } from "./note.tsx";
import { useNow } from "./now.ts";
import { Time } from "./time.tsx";

interface InLineProps {
  readonly line: LineNow;
  readonly actions?: ReactNode | undefined;
}

export function InLineNote({ line, actions }: InLineProps) {
  const now = useNow();
  const behind = line.behind === null ? "" : ` behind ${behindWords(line.behind)}`;
  return (
    <Note
      tone="waiting"
      title={`${line.waiting.toLocaleString("en-GB")} in line${behind}. ${moveWords(line, now)}`}
      actions={actions}
    >
      {workWords(line)}
    </Note>
  );
}

interface PausedProps {
  readonly at: number;
  /** Runs that had been started and stand in line. */
  readonly waiting: number;
  readonly actions?: ReactNode | undefined;
}

export function PausedNote({ at, waiting, actions }: PausedProps) {
  const open = waiting === 0 ? "open runs go on" : `${runsWords(waiting)} in line, like all open runs, go on`;
  return (
    <Note
      tone="waiting"
      title={
        <>
          Paused since <Time at={at} />
        </>
      }
      actions={actions}
    >
      It starts no runs. Its events are kept; {open}.
    </Note>
  );
}

const runsWords = (count: number): string => (count === 1 ? "the run" : `the ${count.toLocaleString("en-GB")} runs`);
