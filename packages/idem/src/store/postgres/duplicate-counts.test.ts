// Counts that other transactions keep a node from writing: added up, written a second later, bounded.
import { describe, expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { DuplicateCount } from "./claim-key.ts";
import type { Connection } from "./connection.ts";
import { KeptCounts } from "./duplicate-counts.ts";

const count = (key: string, over: Partial<DuplicateCount> = {}): DuplicateCount => ({
  env: "test",
  scope: "fn:f",
  key,
  generation: "g1",
  count: 1,
  lastAt: 1,
  ...over,
});

interface Written {
  readonly keys: readonly string[];
  readonly generations: readonly string[];
  readonly counts: readonly number[];
  readonly lasts: readonly number[];
}

function keptCounts(isWritable: () => boolean = () => true) {
  const platform = new ManualPlatform();
  const written: Written[] = [];
  const connection = {
    find: (_: string, named: Written) => {
      written.push(named);
      return Promise.resolve([]);
    },
  } as unknown as Connection;
  const write = (body: (connection: Connection) => Promise<void>) =>
    isWritable() ? body(connection) : Promise.reject(new Error("the server is away"));
  const settle = () => new Promise<void>((resolve) => platform.soon(resolve));
  return { written, counts: new KeptCounts(platform, write), pass: (ms: number) => platform.advance(ms, settle) };
}

describe("kept counts", () => {
  test("are added up by window and written once, a second after the first", async () => {
    const { pass, written, counts } = keptCounts();
    counts.keep([count("k", { lastAt: 5 }), count("other")]);
    counts.keep([count("k", { count: 3, lastAt: 4 })]);
    counts.keep([count("k", { generation: "g2", lastAt: 9 })]);
    await pass(999);
    expect(written).toEqual([]);
    await pass(1);
    expect(written).toMatchObject([
      { keys: ["k", "k", "other"], generations: ["g1", "g2", "g1"], counts: [4, 1, 1], lasts: [5, 9, 1] },
    ]);
    await pass(10_000);
    expect(written).toHaveLength(1);
  });

  test("that come while others are written are written a second later", async () => {
    const { pass, written, counts } = keptCounts();
    counts.keep([count("k")]);
    await pass(1_000);
    counts.keep([count("k")]);
    await pass(1_000);
    expect(written.map(({ counts }) => counts)).toEqual([[1], [1]]);
  });

  test("are written at once when the store is closed", async () => {
    const { written, counts } = keptCounts();
    counts.keep([count("k")]);
    await counts.flush();
    expect(written.map(({ keys }) => keys)).toEqual([["k"]]);
  });

  test("that could not be written are given up: whether they were committed is not known", async () => {
    let isWritable = false;
    const { pass, written, counts } = keptCounts(() => isWritable);
    counts.keep([count("k", { count: 7 })]);
    await pass(1_000);
    isWritable = true;
    counts.keep([count("k")]);
    await pass(1_000);
    expect(written.map(({ counts }) => counts)).toEqual([[1]]);
  });

  test("are of 10,000 keys at most", async () => {
    const { written, counts } = keptCounts();
    counts.keep(Array.from({ length: 10_001 }, (_, n) => count(`k${n}`)));
    counts.keep([count("k0")]);
    await counts.flush();
    expect(written[0]!.keys).toHaveLength(10_000);
    expect(Math.max(...written[0]!.counts)).toBe(2);
  });
});
