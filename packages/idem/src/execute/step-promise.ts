// What a step tool gives back: a promise that notices whether anybody asks for its outcome. A step that nobody awaits must not end the
// process when it fails, as an unhandled rejection would; nor may its failure go unheard.
import { readError } from "../model/user-errors.ts";
import type { Memo } from "./memo.ts";
import type { OpIds } from "./operation.ts";

type Settling = ConstructorParameters<typeof Promise<unknown>>[0];

class StepPromise extends Promise<unknown> {
  /** What comes of it is a promise like any other. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  onHeard: (() => void) | null = null;

  // Also called by await: for a promise that is not of the class Promise itself it asks this method.
  // biome-ignore lint/suspicious/noThenProperty: a promise has one
  override then<A = unknown, B = never>(
    onValue?: ((value: unknown) => A | PromiseLike<A>) | null,
    onError?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.onHeard?.();
    this.onHeard = null;
    return super.then(onValue, onError);
  }
}

/** The steps of one pass whose outcome nobody has asked for yet. */
export class Unheard {
  private readonly names = new Map<string, string>();

  promise({ stepId, name }: OpIds, settling: Settling): Promise<unknown> {
    let resolve!: (value: unknown) => void;
    let reject!: (reason: unknown) => void;
    const promise = new StepPromise((...both) => {
      [resolve, reject] = both;
    });
    this.names.set(stepId, name);
    promise.onHeard = () => this.names.delete(stepId);
    const refuse = (reason: unknown): void => {
      // Whoever asked before this hears of it; nobody else has to.
      if (this.names.has(stepId)) Promise.prototype.then.call(promise, undefined, () => {});
      reject(reason);
    };
    try {
      settling(resolve, refuse);
    } catch (error) {
      refuse(error);
    }
    return promise;
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
