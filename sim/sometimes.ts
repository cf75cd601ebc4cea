// What a thousand worlds must have reached, and how often at least: every crash point and every fault, and the rare moments
// for which they exist. Numbers are far below what is usual, so that only a simulator gone blind fails.
import { faultNames } from "./faults.ts";

const crashPoints = [
  "ingest:before-commit",
  "ingest:after-commit",
  "lease:after-commit",
  "step:before-attempt",
  "step:before-commit",
  "step:after-commit",
  "suspend:before-commit",
  "suspend:after-commit",
  "finish:before-commit",
  "finish:after-commit",
  "deliver:before-commit",
  "deliver:after-commit",
  "rescue:after-commit",
];

export const sometimes: Readonly<Record<string, number>> = {
  ...Object.fromEntries(crashPoints.map((name) => [`crash ${name}`, 3])),
  // A crash at a point is counted by the point's own name, above.
  ...Object.fromEntries(faultNames.filter((name) => name !== "crash-point").map((name) => [`fault ${name}`, 20])),
  "fenced advance": 20,
  "commits after the end": 10,
  "rescued jobs": 50,
  "workers told they were lost": 10,
  "stale registrations": 20,
  "sends of unknown outcome": 100,
  "repeated attempts": 200,
  "decided duplicate-event": 200,
  "decided duplicate-key": 200,
  "decided filtered": 100,
  cancels: 50,
  reruns: 100,
};

/** What was not reached often enough. */
export const unreached = (counts: Readonly<Record<string, number>>): string[] =>
  Object.entries(sometimes)
    .filter(([name, least]) => (counts[name] ?? 0) < least)
    .map(([name, least]) => `${name}: ${counts[name] ?? 0} times, at least ${least} expected`);
