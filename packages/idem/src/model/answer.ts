// An answer that comes later, for whoever hears of it by a call. A promise, with what settles it and the turn it takes, is made for those who ask
// for one: on the path of every step nobody does.

/** Who waits for an answer. */
export interface AnswerTo<T> {
  answered(value: T): void;
  failed(error: unknown): void;
}

export class Answer<T> implements Promise<T> {
  private to: AnswerTo<T> | null = null;
  private promise: Promise<T> | null = null;

  /** Once, by the only one who waits. */
  tell(to: AnswerTo<T>): void {
    if (this.promise === null) this.to = to;
    else
      this.promise.then(
        (value) => to.answered(value),
        (error) => to.failed(error),
      );
  }

  resolve(value: T): void {
    const { to } = this;
    // Nobody waits yet.
    if (to === null) this.promise ??= Promise.resolve(value);
    else
      try {
        to.answered(value);
      } catch (error) {
        endWith(error);
      }
  }

  reject(reason: unknown): void {
    const { to } = this;
    if (to === null) this.promise ??= Promise.reject(reason);
    else
      try {
        to.failed(reason);
      } catch (error) {
        endWith(error);
      }
  }

  /** For whoever awaits it: of another thing than a promise `await` makes two more. */
  get made(): Promise<T> {
    this.promise ??= new Promise((answered, failed) => {
      this.to = { answered, failed };
    });
    return this.promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is awaited like any promise
  then<A = T, B = never>(
    onValue?: ((value: T) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.made.then(onValue, onError);
  }

  catch<B = never>(onError?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.made.catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<T> {
    return this.made.finally(onEnd);
  }

  get [Symbol.toStringTag](): string {
    return "Answer";
  }
}

/** A defect of whoever is called must not keep the answers behind it from those who wait for them. */
function endWith(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
