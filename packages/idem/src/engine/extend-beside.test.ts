import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { Beats, BeatsOptions, StoreSharing } from "../store/sharing.ts";
import { ExtendBeside } from "./extend-beside.ts";

const beatsOf = (): Beats => ({ hold: () => {}, drop: () => {}, last: () => null, close: async () => {} });

/** Threads start, or throw, as the answers say one after the other. */
function playedStore(answers: readonly (Beats | Error)[]) {
  const platform = new ManualPlatform();
  const opened: BeatsOptions[] = [];
  const extendedBy: (Beats | null)[] = [];
  const logged: string[] = [];
  const beats: StoreSharing["beats"] = (options) => {
    const answer = answers[opened.length]!;
    opened.push(options);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const beside = new ExtendBeside({
    store: { shared: { beats } as unknown as StoreSharing },
    platform,
    names: { extendBy: (by) => void extendedBy.push(by) },
    leaseTermMs: 20_000,
    blockedMaxMs: 300_000,
    report: (what, error) => void logged.push(`${what} ${(error as Error).message}`),
  });
  const settled = () => new Promise<void>((resolve) => platform.soon(resolve));
  const passes = (ms: number) => platform.advance(ms, settled);
  return { beside, opened, extendedBy, logged, passes };
}

test("the heartbeat thread extends the leases from the turn on that starts it", () => {
  const first = beatsOf();
  const { beside, extendedBy } = playedStore([first]);
  beside.start();
  expect(extendedBy).toEqual([first]);
});

test("the heartbeat thread is started again if it could not start or has ended; the main thread renews meanwhile", async () => {
  const [first, second] = [beatsOf(), beatsOf()];
  const answers = [new Error("no more threads"), new Error("still none"), first, second];
  const { beside, opened, extendedBy, logged, passes } = playedStore(answers);

  beside.start();
  expect([opened.length, extendedBy]).toEqual([1, [null]]);
  await passes(1_000);
  expect(opened).toHaveLength(2);
  // Each time a little later.
  await passes(1_999);
  expect(opened).toHaveLength(2);
  await passes(1);
  expect(extendedBy).toEqual([null, null, first]);

  // Reported twice, it is one failure.
  opened.at(-1)!.onTrouble(new Error("ended"));
  opened.at(-1)!.onTrouble(new Error("ended"));
  await passes(30_000);
  expect(extendedBy).toEqual([null, null, first, null, second]);

  expect(beside.stop()).toBe(second);
  opened.at(-1)!.onTrouble(new Error("ended with the process"));
  await passes(60_000);
  expect([opened.length, logged.length]).toEqual([4, 1]);
});

test("a heartbeat thread that keeps failing is logged once until one has connected", async () => {
  const threads = Array.from({ length: 4 }, beatsOf);
  const { beside, opened, logged, passes } = playedStore(threads);
  beside.start();
  opened[0]!.onTrouble(new Error("too many clients"));
  await passes(1_000);
  opened[1]!.onTrouble(new Error("too many clients"));
  expect(logged).toEqual([
    "the heartbeat thread (the main thread renews leases until it is restarted) too many clients",
  ]);
  await passes(2_000);
  opened[2]!.onOpen();
  opened[2]!.onTrouble(new Error("out of memory"));
  expect(logged).toHaveLength(2);
  // The backoff began anew.
  await passes(1_000);
  expect(opened).toHaveLength(4);
});

test("no heartbeat thread is started in a process that has stopped", async () => {
  const { beside, opened, passes } = playedStore([beatsOf()]);
  expect(beside.stop()).toBeNull();
  beside.start();
  await passes(60_000);
  expect(opened).toHaveLength(0);
});
