import { expect, test } from "vitest";
import type { AdvanceAnswer } from "../store/advance.ts";
import type { RunMemo } from "../store/leases.ts";
import { Pass } from "./pass.ts";
import type { Patch, RunPorts } from "./ports.ts";

const limits = { stepsMax: 10, stepBytesMax: 1_000, runBytesMax: 1_000 };

/** A pass over a step that failed once, on a node that knows the store's clock to be between two times. */
function failedOnce({
  retryAt,
  reached,
  now,
  isHeld = () => true,
}: {
  retryAt: number;
  reached: number;
  now: number;
  isHeld?: () => boolean;
}) {
  let entered = 0;
  const patches: Patch[] = [];
  const ports = {
    now: () => now,
    reached: () => reached,
    stepId: (name: string) => name,
    soon: (run: () => void) => queueMicrotask(run),
    timer: () => ({ cancel() {} }),
    point: () => undefined,
    isHeld,
    advance: (patch, _seen, _log, to) => {
      patches.push(patch);
      const outcomes = (patch.steps ?? []).map(({ outcome }) => outcome);
      const answer: AdvanceAnswer = {
        kind: "advanced",
        now,
        outcomes,
        ingested: null,
        seen: 0,
        news: [],
        stamps: null,
        leased: false,
        woken: [],
        freed: false,
      };
      queueMicrotask(() => to.answered(answer));
    },
  } satisfies Partial<RunPorts> as unknown as RunPorts;
  const failure = { stepId: "s", name: "s", attempt: 1, error: "{}", startedAt: 0, endedAt: 0, retryAt, stamp: 1 };
  const memo = {
    run: { id: "r" },
    steps: [],
    attempts: [{ ...failure, worker: "w" }],
    waits: [],
    inputs: {},
  } as unknown as RunMemo;
  const pass = new Pass(ports, memo, limits, {
    attemptsMax: 4,
    lostWorkers: 0,
    backoff: null,
    deadlineAt: null,
    slots: null,
    stepTimeoutMs: null,
    divergence: { policy: "warn", isWatched: false, hasTimes: true },
    diverged() {},
    conflict() {},
    around: (_, run) => run(),
    warn: () => {},
  });
  const run = async () => {
    entered++;
    return { json: "1" };
  };
  return {
    pass,
    patches,
    enteredCount: () => entered,
    step: pass.request("run", { step: "s", was: null }, () => ({ kind: "attempt", run })),
  };
}

test("a retry planned elsewhere is not early here, though this node's bound of the store's clock is past it", async () => {
  const { pass, step, patches, enteredCount } = failedOnce({ retryAt: 1_200, reached: 1_199, now: 1_900 });
  expect(await Promise.race([pass.closed, step])).toEqual({ kind: "suspended", dueAt: 1_200 });
  expect(patches.map(({ next }) => next)).toEqual([{ kind: "suspend", dueAt: 1_200 }]);
  expect(enteredCount()).toBe(0);
});

test("a retry begins at the time the store has surely reached", async () => {
  const { step, enteredCount } = failedOnce({ retryAt: 1_200, reached: 1_200, now: 1_900 });
  expect(await step).toBe(1);
  expect(enteredCount()).toBe(1);
});

test("what throws before a step is entered closes the pass, and ends no process", async () => {
  const error = new Error("a defect");
  const isHeld = () => {
    throw error;
  };
  const { pass, enteredCount } = failedOnce({ retryAt: 1_200, reached: 1_200, now: 1_900, isHeld });
  expect(await pass.closed).toEqual({ kind: "broken", error });
  await pass.idle();
  expect(enteredCount()).toBe(0);
});
