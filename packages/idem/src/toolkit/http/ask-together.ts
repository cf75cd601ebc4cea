// Duplicates that arrive together ask together: while one is asking, newcomers form a line, and one of the line asks for all of it once the
// first has its answer. A key that everybody wants holds one session of the database then, and not the whole pool.
//
// As exact as asking alone: a shared answer was asked for after everybody in the line had come. One that only one may have is not shared,
// and the others ask again, as one.
import type { Platform } from "../../platform/platform.ts";

interface Asker<T> {
  readonly ask: () => Promise<T>;
  readonly resolve: (answer: T) => void;
  readonly reject: (error: unknown) => void;
}

interface Line<T> {
  askedAt: number;
  waiting: Asker<T>[];
}

/** An asking that takes longer may never come back; newcomers then ask anew. */
const patienceMs = 1_000;

export class AskTogether<T> {
  private readonly lines = new Map<string, Line<T>>();

  constructor(
    private readonly platform: Platform,
    /** Whether an answer holds for everybody who asked the same. */
    private readonly isForAll: (answer: T) => boolean,
  ) {}

  /** `what` names all that the answer depends on, but for who asks. */
  ask(what: string, ask: () => Promise<T>): Promise<T> {
    const now = this.platform.monoMs();
    const open = this.lines.get(what);
    if (open !== undefined && now - open.askedAt < patienceMs) {
      return new Promise((resolve, reject) => open.waiting.push({ ask, resolve, reject }));
    }
    const line: Line<T> = { askedAt: now, waiting: [] };
    this.lines.set(what, line);
    const asked = begin(ask);
    const next = () => this.askNext(what, line);
    asked.then(next, next);
    return asked;
  }

  private askNext(what: string, line: Line<T>): void {
    const { waiting } = line;
    // The last of them has the most time left.
    const speaker = waiting.pop();
    if (speaker === undefined) {
      if (this.lines.get(what) === line) this.lines.delete(what);
      return;
    }
    line.askedAt = this.platform.monoMs();
    line.waiting = [];
    begin(speaker.ask)
      .then(
        (answer) => {
          speaker.resolve(answer);
          if (!this.isForAll(answer)) line.waiting.unshift(...waiting);
          else for (const { resolve } of waiting) resolve(answer);
        },
        // Each of them would have met it.
        (error: unknown) => {
          for (const { reject } of [speaker, ...waiting]) reject(error);
        },
      )
      .finally(() => this.askNext(what, line));
  }
}

/** An error thrown before it is awaited is an answer, too; else nobody after it would be asked for. */
const begin = async <T>(ask: () => Promise<T>): Promise<T> => ask();
