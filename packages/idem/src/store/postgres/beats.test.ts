import { expect, test } from "vitest";
import type { Thread } from "../../platform/platform.ts";
import type { BeatsOptions } from "../sharing.ts";
import { BeatBoard, type BeatThreadInput, type FromBeatThread, type ToBeatThread } from "./beat-board.ts";
import { SharedBeats } from "./beats.ts";

/** Heartbeat threads that do nothing by themselves: the test reports and ends for them. */
function playedThreads() {
  const threads: {
    readonly input: BeatThreadInput;
    readonly posted: ToBeatThread[];
    report(message: FromBeatThread): void;
    end(error: Error | null): void;
  }[] = [];
  const startThread = (_file: string, input: unknown): Thread => {
    const posted: ToBeatThread[] = [];
    const reports: ((message: never) => void)[] = [];
    const ends: ((error: Error | null) => void)[] = [];
    threads.push({
      input: input as BeatThreadInput,
      posted,
      report: (message) => {
        for (const take of reports) take(message as never);
      },
      end: (error) => {
        for (const take of ends) take(error);
      },
    });
    return {
      post: (message) => void posted.push(message as ToBeatThread),
      onMessage: (take) => void reports.push(take as (message: never) => void),
      onEnd: (take) => void ends.push(take),
      ref: () => {},
      terminate: async () => {},
    };
  };
  const platform = { monoMs: () => 0, timer: () => ({ cancel: () => {} }), startThread };
  const shared = new SharedBeats({ platform, url: "postgres://h/db", owner: "a" });
  const reported: string[] = [];
  const open = (name: string) => {
    const options: BeatsOptions = {
      termMs: 20_000,
      blockedMaxMs: 300_000,
      onOpen: () => void reported.push(`${name} is open`),
      onTrouble: () => void reported.push(`${name} failed`),
    };
    return shared.open(options);
  };
  return { threads, reported, open };
}

test("a lease is posted to the heartbeat thread in the turn that starts the thread, whatever the thread has reported by then", () => {
  const { threads, reported, open } = playedThreads();
  open("first").hold("w1", 0);
  const [{ input, posted }] = threads as [(typeof threads)[number]];
  expect(posted).toEqual([{ kind: "hold", worker: "w1", place: 0 }]);
  expect(new BeatBoard(input.memory).read(0).state).toBe("held");
  expect(reported).toEqual([]);
});

test("every engine over the store learns that the heartbeat thread has connected, also one that opens it later", () => {
  const { threads, reported, open } = playedThreads();
  open("first");
  open("second");
  threads[0]!.report({ kind: "open" });
  open("third");
  expect(reported).toEqual(["first is open", "second is open", "third is open"]);
  expect(threads).toHaveLength(1);
});

test("a heartbeat thread that cannot connect is closed, and the next call that opens one starts another", () => {
  const { threads, reported, open } = playedThreads();
  const first = open("first");
  first.hold("w1", 0);
  threads[0]!.report({ kind: "failed", why: "too many clients" });
  expect(reported).toEqual(["first failed"]);
  expect(first.last("w1")).toBeNull();
  expect(threads[0]!.posted.at(-1)).toEqual({ kind: "close" });
  // Its end is expected now.
  threads[0]!.end(null);
  expect(reported).toEqual(["first failed"]);
  open("first");
  expect(threads).toHaveLength(2);
});

test("when the thread that extends leases ends, all engines over the store hear of it, and the next to ask gets another one", () => {
  const { threads, reported, open } = playedThreads();
  const first = open("first");
  open("second");
  expect(threads).toHaveLength(1);

  first.hold("w1", 0);
  threads[0]!.end(new Error("out of memory"));
  expect(reported).toEqual(["first failed", "second failed"]);
  // What it last heard is nobody's any more: the main thread beats.
  expect(first.last("w1")).toBeNull();

  open("first");
  expect(threads).toHaveLength(2);
});

test("the heartbeat thread ends with the last engine that uses it", async () => {
  const { threads, open } = playedThreads();
  const [first, second] = [open("first"), open("second")];
  await first.close();
  await first.close();
  expect(threads[0]!.posted).toEqual([]);
  const closed = second.close();
  expect(threads[0]!.posted).toEqual([{ kind: "close" }]);
  threads[0]!.end(null);
  await closed;
  open("third");
  expect(threads).toHaveLength(2);
});

test("a platform without threads is refused with an error", () => {
  const platform = { monoMs: () => 0, timer: () => ({ cancel: () => {} }) };
  const shared = new SharedBeats({ platform, url: "postgres://h/db", owner: "a" });
  const options = { termMs: 20_000, blockedMaxMs: 300_000, onOpen: () => {}, onTrouble: () => {} };
  expect(() => shared.open(options)).toThrow("this platform has no threads");
});
