// One call of a world's server to its app, for what its code asks for: dead with its process; given up, it stands still and the server calls again.
import { never } from "../worker/life.ts";
import type { Living } from "../worker/world-effects.ts";
import type { AppProcess } from "./app-process.ts";

export class ServedCall implements Living {
  readonly isLoading = false;
  isFrozen = false;
  /** Settles when its answer is no longer needed. */
  readonly givenUp: Promise<null>;
  private giveUp: () => void = () => {};
  private thawing: (() => void)[] = [];

  constructor(
    readonly process: Pick<AppProcess, "isDead">,
    /** Of its process, counted from 1. */
    readonly index: number,
    /** Null for what belongs to no call. */
    readonly run: { readonly fn: string; readonly runId: string } | null,
  ) {
    this.givenUp = new Promise((resolve) => {
      this.giveUp = () => resolve(null);
    });
  }

  get isDead(): boolean {
    return this.process.isDead;
  }

  freeze(): void {
    this.isFrozen = true;
    this.giveUp();
  }

  thaw(): void {
    this.isFrozen = false;
    for (const go of this.thawing.splice(0)) go();
  }

  pass(): void | Promise<void> {
    if (this.isDead) return never();
    if (!this.isFrozen) return;
    return new Promise<void>((resolve) => this.thawing.push(resolve)).then(() => this.pass());
  }
}
