// The threads as the command holds them, without any of their own code.
import { expect, test } from "vitest";
import type { Platform, Thread } from "../platform/platform.ts";
import { PlayingThreads } from "./playing-threads.ts";

/** Threads that answer when the test says so. */
function hold(size: number) {
  const started: { answer: (message: unknown) => void; end: () => void; isEnded: boolean }[] = [];
  const startThread = (): Thread => {
    let take: (message: any) => void = () => {};
    let ended: (error: Error | null) => void = () => {};
    const one = {
      isEnded: false,
      answer: (message: unknown) => take(message),
      end: () => {
        one.isEnded = true;
        ended(null);
      },
    };
    started.push(one);
    return {
      post: () => {},
      onMessage: (listen) => {
        take = listen;
      },
      onEnd: (listen) => {
        ended = listen;
      },
      terminate: async () => one.end(),
      ref: () => {},
    };
  };
  const alarms: (() => void)[] = [];
  const soon: (() => void)[] = [];
  const platform = {
    startThread,
    timer: (_: number, ring: () => void) => {
      alarms.push(ring);
      return { cancel: () => {} };
    },
    soon: (run: () => void) => void soon.push(run),
  } as unknown as Platform;
  const threads = new PlayingThreads({ platform, loader: null, size, answerMsMax: 1_000 });
  return { started, alarms, soon, threads };
}

const described = { kind: "described", functions: [], clients: 0, configuration: null };

test("a thread that ended while nobody asked it is asked nothing any more: another is started", async () => {
  const { started, threads } = hold(1);
  const first = threads.describe(["a.ts"]);
  await Promise.resolve();
  started[0]!.answer(described);
  expect(await first).toEqual([]);
  started[0]!.end();
  const second = threads.describe(["a.ts"]);
  await Promise.resolve();
  expect(started).toHaveLength(2);
  started[1]!.answer(described);
  expect(await second).toEqual([]);
});

test("an answer that arrived while the machine slept is heard before it is taken for missing", async () => {
  const { started, alarms, soon, threads } = hold(1);
  const asked = threads.describe(["a.ts"]);
  await Promise.resolve();
  alarms[0]!();
  started[0]!.answer(described);
  for (const run of soon) run();
  expect(await asked).toEqual([]);
});

test("a thread that never came as far as the user's modules is no fault of theirs: another is asked", async () => {
  const { started, alarms, soon, threads } = hold(1);
  const asked = threads.describe(["a.ts"]);
  await Promise.resolve();
  alarms[0]!();
  soon.pop()!();
  await expect.poll(() => started).toHaveLength(2);
  expect(started[0]!.isEnded).toBe(true);
  // The second came so far: whatever it waits for now is the user's.
  started[1]!.answer({ kind: "opened" });
  alarms[1]!();
  soon.pop()!();
  expect(await asked).toEqual({ kind: "stuck" });
});

test("what waits for a thread when they are closed is answered, and starts none", async () => {
  const { started, threads } = hold(1);
  const asked = [threads.describe(["a.ts"]), threads.describe(["b.ts"])];
  await Promise.resolve();
  await threads.close();
  expect(await Promise.all(asked)).toEqual([
    { kind: "gone", why: "its thread ended" },
    { kind: "gone", why: "everything was closed" },
  ]);
  expect(started.map(({ isEnded }) => isEnded)).toEqual([true]);
});

test("the other threads open while the first one is asked what there is", async () => {
  const { started, threads } = hold(3);
  const first = threads.describe(["a.ts"]);
  await Promise.resolve();
  expect(started).toHaveLength(3);
  started[0]!.answer(described);
  expect(await first).toEqual([]);
  expect(threads.count).toBe(3);
  await threads.close();
  expect(started.map(({ isEnded }) => isEnded)).toEqual([true, true, true]);
});
