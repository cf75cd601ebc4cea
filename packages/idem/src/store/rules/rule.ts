// A rule of the store is written once, as a generator that asks its database and waits for the answer with `yield*`.
//
//   SQLite       every answer is there at once (`Given`): the generator never stops, and its rule is one call
//   PostgreSQL   an answer is on its way (`Sent`): the generator stops with the promise, and is driven on when it is there
//
// A refusal of the database is thrown into the rule where it asked, as by any call.

/** A question to the database: `const row = yield* tx.one(…)`. A rule may be asked as well. */
export interface Asked<T> {
  [Symbol.iterator](): Iterator<Promise<unknown>, T, unknown>;
}

export type Rule<T> = Generator<Promise<unknown>, T, unknown>;

/** An answer that is there. One object is all three: what was asked, its iterator and that iterator's only step. */
export class Given<T> implements Asked<T> {
  readonly done = true;

  constructor(readonly value: T) {}

  [Symbol.iterator](): this {
    return this;
  }

  next(): this {
    return this;
  }
}

/** The answer where there is nothing to wait for. */
export const nothing: Asked<void> = new Given(undefined);

/** An answer that is on its way. What was asked is sent already, so several can be asked before the first is waited for. */
export class Sent<T> implements Asked<T> {
  constructor(private readonly answer: Promise<T>) {
    // A rule that ends over an earlier answer never waits for this one.
    answer.catch(() => {});
  }

  *[Symbol.iterator](): Rule<T> {
    return (yield this.answer) as T;
  }
}

/** On a database that answers at once. */
export function driveAtOnce<T>(asked: Asked<T>): T {
  const step = asked[Symbol.iterator]().next();
  if (step.done === true) return step.value;
  throw new Error("a rule waits for an answer on a database that gives all of them at once");
}

/** On a database that is awaited. */
export const driveAwaited = <T>(asked: Asked<T>): Promise<T> => driveAsync(asked[Symbol.iterator](), identity);

const identity = (answer: Promise<unknown>): Promise<unknown> => answer;

/** Steps of any kind, each answered by `run`. */
export async function driveAsync<Step, Answer, T>(
  steps: Iterator<Step, T, Answer>,
  run: (step: Step) => Promise<Answer>,
): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    let answer: Answer;
    try {
      answer = await run(step.value);
    } catch (error) {
      // The one who asked may know what to do about it.
      step = steps.throw!(error);
      continue;
    }
    step = steps.next(answer);
  }
  return step.value;
}
