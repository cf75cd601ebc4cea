// The app's half of the ledger: what happens in its steps, on standard output.
import { writeSync } from "node:fs";
import type { Line } from "./messages.ts";

export function say(line: Line): void {
  let text = Buffer.from(`${JSON.stringify(line)}\n`);
  while (text.length > 0) {
    try {
      text = text.subarray(writeSync(1, text));
    } catch (error) {
      // The reader is behind; the line must be out before the step goes on.
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
}

/** What functions of the app know of the run they are in. */
export interface RunContext {
  readonly runId: string;
  readonly attempt: number;
  readonly step: any;
  readonly fn: string;
}

/** A step that is entered in the ledger before it does anything. */
export function told<T>({ step, runId, attempt, fn }: RunContext, id: string, work: () => T | Promise<T>): Promise<T> {
  return step.run(id, () => {
    say({ kind: "enter", atMs: Date.now(), fn, run: runId, step: id, attempt });
    return work();
  });
}

export const note = ({ fn, runId }: Pick<RunContext, "fn" | "runId">, text: string): void =>
  say({ kind: "note", fn, run: runId, text });

const gates = new Map<string, () => void>();
const opened = new Set<string>();

/** Until the test releases the run. */
export const released = (runId: string): Promise<void> =>
  opened.has(runId) ? Promise.resolve() : new Promise((resolve) => gates.set(runId, resolve));

export function release(runId: string): void {
  opened.add(runId);
  gates.get(runId)?.();
}
