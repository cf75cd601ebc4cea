// Lines that a pass has heard of the code's `logger` and not yet written down. They go with the next commit of the run, never by themselves:
//
//   wrote it                          kept with                                   said again by a replay
//   the body of a step                the outcome, or the failed attempt          the body does not run again
//   the code between steps            the next commit: a step that ends, a wait   the code is quiet until it is past what the store knows
//                                     that begins, a retry, the end of the run
//   a pass that dies before that      nothing                                     the next pass says it for the first time
//
// Code that does other things between steps than steps can be past the memo and still behind itself; its lines are the same by what they
// say, and kept once (model/log-line.ts). docs/logs.md tells it to users.
import { hashOf, type LogLevel, type LogLine, logWords, type NewLog, writeLog } from "../model/log-line.ts";

// Of one commit: of the lines past it, of a megabyte between two steps say, only the number is kept.
const pendingCharsMax = 32 * 1024;
const lineChars = 120;

/** Counts the lines of one pass, which is their order. */
export class LineCounter {
  private n = 0;
  next(): number {
    return this.n++;
  }
}

export class Lines {
  private lines: LogLine[] = [];
  private chars = 0;
  private dropped = 0;

  add(line: LogLine): void {
    this.chars += line.message.length + (line.fields?.length ?? 0) + lineChars;
    if (this.chars <= pendingCharsMax) this.lines.push(line);
    else this.dropped++;
  }

  /** Those of a step whose attempt is over. */
  join(others: Lines): void {
    for (const line of others.lines) this.add(line);
    this.dropped += others.dropped;
  }

  get isEmpty(): boolean {
    return this.lines.length === 0;
  }

  /** Everything, once; null when there is nothing. */
  take(): NewLog | null {
    if (this.lines.length === 0) return null;
    const log = writeLog(this.lines, this.dropped);
    this.lines = [];
    this.chars = 0;
    this.dropped = 0;
    return log;
  }
}

export interface Said {
  readonly level: LogLevel;
  readonly args: readonly unknown[];
  readonly at: number;
  readonly n: number;
  readonly attempt: number;
}

/** A line in the body of a step: known by its place, for a body's lines are kept with its outcome or not at all. */
export function lineOfStep(stepId: string, place: number, { args, ...said }: Said): LogLine {
  return { ...said, ...logWords(args), stepId, id: `${stepId}.${said.attempt}.${place}` };
}

/** Lines of the code between steps: known by what they say, and how often it was said before in this pass. */
export class HandlerLines {
  private readonly said = new Map<string, number>();

  line({ args, ...said }: Said): LogLine {
    const words = logWords(args);
    const hash = hashOf(`${said.level}\n${words.message}\n${words.fields}`);
    const before = this.said.get(hash) ?? 0;
    this.said.set(hash, before + 1);
    return { ...said, ...words, stepId: null, id: `${said.attempt}.${hash}.${before}` };
  }
}
