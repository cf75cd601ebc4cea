import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import type { Beats, BeatsOptions, StoreSharing } from "../store/sharing.ts";
import { ExtendBeside } from "./extend-beside.ts";

const beatsOf = (): Beats => ({ hold: () => {}, drop: () => {}, last: () => null, close: async () => {} });

test("what extends leases beside the main thread is started again when it could not be, or has ended; the main thread beats meanwhile", async () => {
  const platform = new ManualPlatform();
  const opened: BeatsOptions[] = [];
  const extendedBy: (Beats | null)[] = [];
  const told: string[] = [];
  const [first, second] = [beatsOf(), beatsOf()];
  const answers = [new Error("the server is starting up"), new Error("still"), first, second];
  const beats: StoreSharing["beats"] = async (options) => {
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
    report: (what, error) => void told.push(`${what} ${(error as Error).message}`),
  });
  const settled = () => new Promise<void>((resolve) => platform.soon(resolve));
  const passes = (ms: number) => platform.advance(ms, settled);

  beside.start();
  await passes(0);
  expect([opened.length, extendedBy]).toEqual([1, [null]]);
  await passes(1_000);
  expect(opened).toHaveLength(2);
  // Each time a little later.
  await passes(1_999);
  expect(opened).toHaveLength(2);
  await passes(1);
  expect(extendedBy).toEqual([null, null, first]);

  // Said twice, it is one trouble.
  opened.at(-1)!.onTrouble(new Error("ended"));
  opened.at(-1)!.onTrouble(new Error("ended"));
  await passes(30_000);
  expect(extendedBy).toEqual([null, null, first, null, second]);
  expect(told).toHaveLength(3);
  expect(told[0]).toMatch(/meanwhile, the server is starting up$/);

  expect(await beside.stop()).toBe(second);
  opened.at(-1)!.onTrouble(new Error("ended with the process"));
  await passes(60_000);
  expect([opened.length, told.length]).toEqual([4, 3]);
});
