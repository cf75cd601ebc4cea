// Loaded into every thread of a server before its own code: a wall clock that a test sets ahead by writing a number to a file.
import { readFileSync } from "node:fs";

const file = process.env.ACCEPTANCE_CLOCK!;
// Often enough for a test, seldom enough to cost nothing.
const lookMs = 20;

const wall = Date.now;
let aheadMs = 0;
let lookedAt = Number.NEGATIVE_INFINITY;

Date.now = () => {
  const mono = performance.now();
  if (mono - lookedAt >= lookMs) {
    lookedAt = mono;
    aheadMs = Number(readFileSync(file, "utf8"));
  }
  return wall() + aheadMs;
};
