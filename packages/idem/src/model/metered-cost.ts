// Counts work for callers (expressions, rows looked at, text read) in one unit, so that nobody has the process to themselves.
// A unit is about 40 ns. Turns (turns.ts) reads the sum and gives the loop back.

/** A measure of the machine this was written on; a slower one holds its loop for longer by as much. */
export const costPerMs = 25_000;

/** The loop is given back after this much of it at the latest. */
export const turnCostMax = 5 * costPerMs;

let charged = 0;
let allowed = Number.POSITIVE_INFINITY;

/** In all, since the process began. */
export const costCharged = (): number => charged;

/** Charged in whole units: a sum with fractions would make the same work cost a little more or less each time. */
export function chargeCost(cost: number): void {
  const units = Math.ceil(cost);
  charged += units;
  allowed -= units;
}

/** The rest of an allowance that several evaluations share. */
export const allowedCost = (): number => Math.max(0, allowed);

/** All evaluations of `decide` together may cost this much. */
export function withinCost<T>(max: number, decide: () => T): T {
  const before = allowed;
  const from = charged;
  allowed = Math.min(before, max);
  try {
    return decide();
  } finally {
    allowed = before - (charged - from);
  }
}

/** Reading JSON text takes about 8 ns for each character. */
export const readingCost = (text: string | null): number => (text === null ? 0 : text.length / 5);
