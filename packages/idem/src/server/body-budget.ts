// Bounds the bytes of bodies held at the same time: of all requests, and within that of each kind of sender.
import { errors } from "../model/errors.ts";

export class BodyBudget {
  held = 0;

  constructor(
    readonly max: number,
    /** The budget this one is a part of. */
    readonly whole: BodyBudget | null = null,
    /** Lets go of a body that is still awaited; false when there is none but the asker's. */
    readonly makeRoom: (asker: BodyShare) => boolean = () => false,
  ) {}
}

/** One request's share of the budget; given back once it is answered. */
export class BodyShare {
  private bytes = 0;
  constructor(private readonly budget: BodyBudget) {}

  take(bytes: number): void {
    this.bytes += bytes;
    this.count(bytes);
    for (let budget: BodyBudget | null = this.budget; budget !== null; budget = budget.whole) {
      while (budget.held > budget.max) {
        if (!this.budget.makeRoom(this)) {
          throw errors.SERVER_BUSY({ why: "the bodies of all requests together are too large" });
        }
      }
    }
  }

  /** Not more than it holds: one that was cut has given back everything already. */
  giveBack(bytes = this.bytes): void {
    const given = Math.min(bytes, this.bytes);
    this.bytes -= given;
    this.count(-given);
  }

  private count(bytes: number): void {
    for (let budget: BodyBudget | null = this.budget; budget !== null; budget = budget.whole) budget.held += bytes;
  }
}
