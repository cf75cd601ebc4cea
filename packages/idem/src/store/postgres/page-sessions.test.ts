// Pages next to commits, on sessions that both share.
import { expect, test } from "vitest";
import type { StoreReads } from "../reads.ts";
import { pageSessionsOf, withBoundedPages } from "./reads.ts";

/** Reads that are answered one by one, by hand. */
function openReads() {
  const begun: { readonly name: string; readonly answer: () => void; readonly fail: (error: Error) => void }[] = [];
  const read = (name: string) => () =>
    new Promise((resolve, reject) => begun.push({ name, answer: () => resolve(name), fail: reject }));
  const reads = { eventPage: read("eventPage"), runs: read("runs"), run: read("run") } as unknown as StoreReads;
  return { begun, reads };
}

const settle = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

test.each([
  [2, 1],
  [3, 1],
  [8, 4],
  [100, 50],
])("pages have at most half of the sessions: of %i at most %i", (poolSize, most) => {
  expect(pageSessionsOf(poolSize)).toBe(most);
});

test("however many pages are looked at, half of the sessions stay for commits and for what a run reads", async () => {
  const { begun, reads } = openReads();
  const bounded = withBoundedPages(reads, 2);
  const bounds = { limit: 1, examinedMax: 1 };
  const pages = Array.from({ length: 20 }, (_, n) =>
    n % 2 === 0 ? bounded.eventPage("default", bounds) : bounded.runs("default", { limit: 1 }),
  );
  const answers = Promise.allSettled(pages);
  await settle();
  expect(begun.map(({ name }) => name)).toEqual(["eventPage", "runs"]);
  void bounded.run("default", "r1");
  await settle();
  expect(begun.map(({ name }) => name)).toEqual(["eventPage", "runs", "run"]);
  // One that fails gives its place back as well.
  for (let n = 0; n < begun.length; n++) {
    if (begun[n]!.name === "run") continue;
    if (n % 3 === 0) begun[n]!.fail(new Error("the session was lost"));
    else begun[n]!.answer();
    await settle();
    expect(begun.length).toBeLessThanOrEqual(n + 4);
  }
  expect((await answers).length).toBe(20);
  expect(begun).toHaveLength(21);
});
