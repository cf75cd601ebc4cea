// The things worlds must reach, and how often at least in a thousand of them: every crash point and every fault, and the rare moments
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
  "calls that waited for the store": 200,
  "calls refused with nothing stored": 200,
  "sends that were refused": 20,
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
  // Nodes whose processes do not stay.
  sweeps: 200,
  "sweeps that did something": 50,
  "sweeps that were cut": 5,
  "sweeps that failed": 5,
  // Steps that end their process.
  "runs parked after their entries": 5,
  "runs failed after their entries": 5,
  // Lanes.
  "runs that stood in line": 500,
  "reruns that stood in line": 20,
  "starts put off by a throttle": 50,
  "slots lost with their worker": 30,
  "runs cancelled in line": 40,
  "steps beside others in slots of their own": 200,
  // Buffers.
  "batches that were full": 50,
  "batches that were due": 100,
  "buffers flushed by another process": 100,
  "buffers flushed for a dead process": 40,
  "events superseded": 300,
  "keys repeated in a batch": 10,
  "keys taken at a flush": 100,
  "flushes refused by a rate limit": 10,
  "invokes answered by a flush": 30,
  // One at a time, cancelled, paused.
  "decided rate-limited": 20,
  "decided singleton-skipped": 200,
  "runs cancelled for a newer one": 100,
  "runs cancelled by an event": 100,
  pauses: 60,
  "decided held": 30,
  "decided paused": 80,
  "buffered events that a pause kept": 50,
  "events released by a person": 100,
  "events dropped by a person": 15,
  // Schedules and clocks.
  "ticks by another process than before": 30,
  "ticks that were decided already": 100,
  "ticks of a stale registration": 50,
  "missed ticks": 300,
  "missed ticks started": 5,
  "missed ticks summed up": 4,
  "store clocks held back": 10,
  // The radar, of several nodes.
  "duplicates the radar told of": 300,
  "duplicates told of before": 100,
  // A server between the nodes.
  "worlds over postgres": 190,
  "loops past a lease that kept it": 5,
  "loops past a lease that lost it": 2,
  "runs held by a blocked loop past a lease": 10,
  "heartbeat threads that began under a blocked loop": 10,
  "unknown commits that were made": 200,
  "unknown commits that were not": 200,
  "repeats of what was committed": 150,
  "calls given up": 200,
  "commits after their client died": 20,
  "commits after their client gave up": 5,
  "commits of a client that stands still": 3,
  "transactions rolled back as idle": 15,
  "transactions rolled back with their client": 30,
  hints: 1_000,
};

/** Those not reached often enough, for so many worlds. */
export const unreached = (counts: Readonly<Record<string, number>>, worlds: number): string[] =>
  Object.entries(sometimes)
    .map(([name, ofThousand]) => ({ name, least: Math.max(1, Math.floor((ofThousand * worlds) / 1_000)) }))
    .filter(({ name, least }) => (counts[name] ?? 0) < least)
    .map(({ name, least }) => `${name}: ${counts[name] ?? 0} times, at least ${least} expected`);
