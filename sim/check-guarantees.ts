// The promises as assertions, over what the outside world saw (the ledger) and what the store holds (the dump).
// Nothing of the engine is imported here or in checks/: what must be true is said a second time, from the promises.
import { bufferChecks } from "./checks/buffers.ts";
import { childChecks } from "./checks/children.ts";
import { cronChecks } from "./checks/crons.ts";
import { eventChecks } from "./checks/events.ts";
import { type Check, type Evidence, Facts } from "./checks/facts.ts";
import { keyChecks } from "./checks/keys.ts";
import { limitChecks } from "./checks/limits.ts";
import { radarChecks } from "./checks/radar.ts";
import { runChecks } from "./checks/runs.ts";
import { singleChecks } from "./checks/singles.ts";
import { stepChecks } from "./checks/steps.ts";
import { waitChecks } from "./checks/waits.ts";

const checks = {
  ...eventChecks,
  ...keyChecks,
  ...limitChecks,
  ...bufferChecks,
  ...singleChecks,
  ...cronChecks,
  ...stepChecks,
  ...childChecks,
  ...waitChecks,
  ...runChecks,
  ...radarChecks,
};
type CheckName = keyof typeof checks;

export interface Violation {
  /** The check that failed; two more belong to the simulator itself. */
  readonly check: CheckName | "a seed is one history" | "a world comes to its end";
  readonly detail: string;
}

export function checkGuarantees(evidence: Evidence): Violation[] {
  const facts = new Facts(evidence);
  const violations: Violation[] = [];
  for (const [check, judge] of Object.entries(checks) as [CheckName, Check][]) {
    judge(facts, (detail) => violations.push({ check, detail }));
  }
  return violations;
}
