// The promise of a step tool, which notices whether its outcome is asked for. A step that is not awaited must not end the process when it
// fails, as an unhandled rejection would; nor may its failure go unheard.
import { readError } from "../model/user-errors.ts";
import type { Memo } from "./memo.ts";
import type { OpIds } from "./operation.ts";

// A promise's constructor calls `take` at once: one function serves them all.
let resolveMade: (value: unknown) => void;
let rejectMade: (reason: unknown) => void;
const take = (resolve: (value: unknown) => void, reject: (reason: unknown) => void): void => {
  resolveMade = resolve;
  rejectMade = reject;
};

/**
 * Every way to the outcome of a promise asks first for its class: `await`, `then` and what is made of it, `Promise.all` and its like read
 * `constructor`. If that is `Promise`, `await` takes it as it is; of another class it makes two promises more.
 */
class StepPromise extends Promise<unknown> {
  #heardBy: StepAnswer | null = null;

  static {
    Object.defineProperty(StepPromise.prototype, "constructor", {
      configurable: true,
      get(this: object): PromiseConstructor {
        if (#heardBy in this && this.#heardBy !== null) this.#heardBy.isHeard = true;
        return Promise;
      },
    });
  }

  static for(answer: StepAnswer): StepPromise {
    const promise = new StepPromise(take);
    promise.#heardBy = answer;
    return promise;
  }

  /** Its failure ends nothing, and does not count as heard. */
  static quiet(promise: StepPromise): void {
    const heardBy = promise.#heardBy;
    promise.#heardBy = null;
    Promise.prototype.then.call(promise, undefined, () => {});
    promise.#heardBy = heardBy;
  }
}

/** A step's promise, and the hands to settle it. */
export class StepAnswer {
  isHeard = false;
  readonly stepId: string;
  readonly name: string;
  readonly resolve: (value: unknown) => void;
  private readonly made: StepPromise;
  private readonly refuse: (reason: unknown) => void;

  constructor(
    private readonly unheard: Unheard,
    { stepId, name }: OpIds,
  ) {
    this.stepId = stepId;
    this.name = name;
    this.made = StepPromise.for(this);
    this.resolve = resolveMade;
    this.refuse = rejectMade;
  }

  get promise(): Promise<unknown> {
    return this.made;
  }

  reject(reason: unknown): void {
    // Only code that asked before this has to hear of it.
    if (!this.isHeard) {
      StepPromise.quiet(this.made);
      this.unheard.refused.push(this);
    }
    this.refuse(reason);
  }
}

/** The steps of one pass whose outcome was not asked for. */
export class Unheard {
  /** As of their failure; the code may have asked since. */
  readonly refused: StepAnswer[] = [];

  open(ids: OpIds): StepAnswer {
    return new StepAnswer(this, ids);
  }

  /** Once the run has ended: what failed and was never asked for, in sentences. `open`: what has not come to its end. */
  failures(memo: Memo, open: readonly StepAnswer[]): string[] {
    const told: string[] = [];
    for (const { isHeard, stepId, name } of [...this.refused, ...open]) {
      const outcome = memo.get(stepId)?.outcome;
      if (isHeard) continue;
      if (outcome?.kind === "error") {
        told.push(`step "${name}" failed, and nobody awaited it: ${readError(outcome.json).message}`);
      } else if (outcome === undefined && memo.failures(stepId) !== null) {
        told.push(`step "${name}" failed and was to be tried again, but nobody awaited it and the run has ended`);
      }
    }
    return told;
  }
}
