// What a step tool gives back: a promise that notices whether anybody asks for its outcome. A step that nobody awaits must not end the
// process when it fails, as an unhandled rejection would; nor may its failure go unheard.
import { readError } from "../model/user-errors.ts";
import type { Memo } from "./memo.ts";
import type { OpIds } from "./operation.ts";

// A promise's constructor calls this at once: one function serves them all.
let made: { readonly resolve: (value: unknown) => void; readonly reject: (reason: unknown) => void };
const take = (resolve: (value: unknown) => void, reject: (reason: unknown) => void): void => {
  made = { resolve, reject };
};

class StepPromise extends Promise<unknown> {
  /** What comes of it is a promise like any other. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  heardBy: StepAnswer | null = null;

  // Also called by await: for a promise that is not of the class Promise itself it asks this method.
  // biome-ignore lint/suspicious/noThenProperty: a promise has one
  override then<A = unknown, B = never>(
    onValue?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.heardBy?.heard();
    this.heardBy = null;
    return super.then(onValue, onError);
  }
}

/** A step's promise, and the hands to settle it. */
export class StepAnswer {
  readonly promise: Promise<unknown>;
  private readonly hands: typeof made;

  constructor(
    private readonly unheard: Map<string, string>,
    private readonly stepId: string,
  ) {
    const promise = new StepPromise(take);
    this.hands = made;
    promise.heardBy = this;
    this.promise = promise;
  }

  heard(): void {
    this.unheard.delete(this.stepId);
  }

  resolve(value: unknown): void {
    this.hands.resolve(value);
  }

  reject(reason: unknown): void {
    // Whoever asked before this hears of it; nobody else has to.
    if (this.unheard.has(this.stepId)) Promise.prototype.then.call(this.promise, undefined, () => {});
    this.hands.reject(reason);
  }
}

/** The steps of one pass whose outcome nobody has asked for yet. */
export class Unheard {
  private readonly names = new Map<string, string>();

  open({ stepId, name }: OpIds): StepAnswer {
    this.names.set(stepId, name);
    return new StepAnswer(this.names, stepId);
  }

  /** Once the run has ended: what failed and was never asked for, in sentences. */
  failures(memo: Memo): string[] {
    const told: string[] = [];
    for (const [stepId, name] of this.names) {
      const outcome = memo.get(stepId)?.outcome;
      if (outcome?.kind === "error") {
        told.push(`step "${name}" failed, and nobody awaited it: ${readError(outcome.json).message}`);
      } else if (outcome === undefined && memo.failures(stepId) !== null) {
        told.push(`step "${name}" failed and was to be tried again, but nobody awaited it and the run has ended`);
      }
    }
    return told;
  }
}
