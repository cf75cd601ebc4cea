// Bounds an evaluation's cost, so that data cannot stretch its time.
// Outside macros a node runs once and an expression has at most 500, so only what depends on data is metered:
// macro bodies, comparing, joining, searching, matching. A meter that runs out fails the evaluation.

import { Failure } from "./expression-failure.ts";
import type { Node } from "./expression-node.ts";
import { allowedCost, chargeCost, costPerMs } from "./metered-cost.ts";

// An evaluation ends within some 4 ms; a filter such as items.exists(i, i.sku == "x") over 10,000 items spends 50,000.
export const evaluationCostMax = 4 * costPerMs;
// Making an error, with its stack and its marked source line, takes about 20 µs.
export const errorCost = 500;
// One pass of a macro around its body: a context made, a condition asked.
export const passCost = 1;
// Listing the keys of a large object, and looking them up in another, takes about 300 ns for each.
export const keyCost = 8;
// Joined text only has to fit a key or a comparison; the bound stops doubling long before memory does.
export const joinedLengthMax = 65_536;

// Made once: a stack trace costs microseconds.
const tooCostly = new Failure("it costs too much to evaluate on this data");

export class Meter {
  left = 0;
  #granted = 0;
  /** The part found missing last. Operators stop at their first missing operand, so it is the one that mattered. */
  absent: Node | undefined;
  absentBecause = "missing";
  /** The weight of its patterns together, while it is compiled. */
  patternWeight = 0;

  reset(): void {
    this.#granted = Math.min(evaluationCostMax, allowedCost());
    this.left = this.#granted;
    this.absent = undefined;
  }

  /** Charges what was spent, for which the loop is given back (turns.ts). An evaluation is never free: it has up to 500 nodes. */
  settle(nodes: number): void {
    chargeCost(this.#granted - this.left + nodes);
    this.#granted = this.left;
  }

  get isSpent(): boolean {
    return this.left < 0;
  }

  /** Throws once nothing is left, and from then on at every call. */
  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw tooCostly;
  }

  note(node: Node, because: "missing" | "null"): undefined {
    this.absent = node;
    this.absentBecause = because;
    return undefined;
  }
}
