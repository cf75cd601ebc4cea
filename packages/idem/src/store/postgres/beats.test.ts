import { expect, test } from "vitest";
import type { Thread } from "../../platform/platform.ts";
import { SharedBeats } from "./beats.ts";

test("when the thread that extends leases ends, all engines over the store hear of it, and the next to ask gets another one", async () => {
  const ends: ((error: Error | null) => void)[] = [];
  const startThread = (): Thread => ({
    post: () => {},
    onMessage: (take) => void queueMicrotask(() => take({ kind: "open" } as never)),
    onEnd: (told) => void ends.push(told),
    ref: () => {},
    terminate: async () => {},
  });
  const platform = { monoMs: () => 0, timer: () => ({ cancel: () => {} }), startThread };
  const shared = new SharedBeats({ platform, url: "postgres://h/db", owner: "a" });
  const told: string[] = [];
  const open = (name: string) =>
    shared.open({ termMs: 20_000, blockedMaxMs: 300_000, onTrouble: () => void told.push(name) });
  const first = await open("first");
  await open("second");
  expect(ends).toHaveLength(1);

  first.hold("w1", 0);
  ends[0]!(new Error("out of memory"));
  expect(told).toEqual(["first", "second"]);
  // What it last heard is nobody's any more: the main thread beats.
  expect(first.last("w1")).toBeNull();

  await open("first");
  expect(ends).toHaveLength(2);
});
