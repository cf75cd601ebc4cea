// Long reads of people and tools, in fair turns: what one of them may cost the others.
import { expect, test } from "vitest";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { keyActor, passwordActor, sessionActor } from "./people/actor.ts";
import type { Session } from "./people/sessions.ts";
import { ReadShares } from "./read-shares.ts";
import { testServer } from "./test-server.suite.ts";

const viewer = (mark: string) => sessionActor({ role: "viewer", mark } as Session);
const operator = passwordActor("operator");

const settle = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

/** Reads that are answered by hand, in the order in which they began. */
function openShares(limits: ConstructorParameters<typeof ReadShares>[1] = {}) {
  const platform = new ManualPlatform();
  const shares = new ReadShares(platform, limits);
  const begun: { readonly who: string; readonly answer: () => void }[] = [];
  const ask = (actor: Parameters<ReadShares["of"]>[0], who = actor.name) =>
    shares.of(actor)(() => new Promise((resolve) => begun.push({ who, answer: () => resolve(null) })));
  /** Each of them takes so long. */
  const answer = async (count: number, ms: number) => {
    for (let n = 0; n < count; n++) {
      await platform.advance(ms, settle);
      begun[answered++]!.answer();
      await settle();
    }
  };
  let answered = 0;
  return { platform, ask, begun, answer };
}

test("a caller with a thousand reads has two of them with the store, and the next caller's begins at once", async () => {
  const { ask, begun } = openShares({ waitingRequestsPerPrincipal: 10_000 });
  for (let n = 0; n < 1_000; n++) void ask(viewer("a"));
  await settle();
  expect(begun).toHaveLength(2);
  void ask(operator);
  await settle();
  expect(begun.map(({ who }) => who)).toEqual(["viewer session a", "viewer session a", "password"]);
});

test("a caller that has spent its budget reads one at a time, while nobody else does, until the budget refills", async () => {
  const { platform, ask, begun, answer } = openShares({ readMsSaved: 100, readMsPerSecond: 500, readMsFree: 0 });
  const who = () => begun.map(({ who: name }) => name.at(-1)).join("");
  for (let n = 0; n < 6; n++) void ask(viewer("a"));
  await settle();
  expect(who()).toBe("aa");
  // Two share 400 ms: 100 more than it had and got. The third is alone.
  await platform.advance(400, settle);
  await answer(2, 0);
  expect(who()).toBe("aaa");
  for (let n = 0; n < 2; n++) void ask(viewer("b"));
  await settle();
  expect(who()).toBe("aaabb");
  // Not before both of the other's are answered.
  await answer(2, 0);
  expect(who()).toBe("aaabb");
  await answer(1, 0);
  expect(who()).toBe("aaabba");
  await answer(3, 0);
  expect(who()).toBe("aaabbaaa");
  // What it has spent is there again.
  await platform.advance(1_000, settle);
  for (let n = 0; n < 3; n++) void ask(viewer("a"));
  await settle();
  expect(who()).toBe("aaabbaaaaa");
});

test("a caller is not charged for the reads of others that its own waits behind", async () => {
  const { platform, ask, begun, answer } = openShares({ readMsSaved: 2_000, readMsPerSecond: 500, readMsFree: 0 });
  const who = () => begun.map(({ who: name }) => name.at(-1)).join("");
  // Two reads of an attacker and two of an operator are with the store for three seconds at a time.
  for (let round = 0; round < 3; round++) {
    for (const mark of ["a", "b"]) for (let n = 0; n < 2; n++) void ask(viewer(mark));
    await settle();
    await platform.advance(3_000, settle);
    await answer(4, 0);
  }
  expect(who()).toBe("aabbaabbaabb");
  // Each had half of the time, which is its budget: both still read two at once, beside each other.
  for (const mark of ["a", "b"]) for (let n = 0; n < 2; n++) void ask(viewer(mark));
  await settle();
  expect(who().slice(12)).toBe("aabb");
});

test("what a caller owes is bounded: it reads as before within ten seconds, whatever its reads took", async () => {
  const { platform, ask, begun, answer } = openShares({ readMsFree: 0 });
  for (let n = 0; n < 2; n++) void ask(operator);
  await settle();
  await platform.advance(600_000, settle);
  await answer(2, 0);
  await platform.advance(10_001, settle);
  for (let n = 0; n < 2; n++) void ask(operator);
  await settle();
  expect(begun).toHaveLength(4);
});

test("reads that are answered within the free time cost nothing, however many there are", async () => {
  const { ask, begun, answer } = openShares({ readMsSaved: 10, readMsPerSecond: 1, readMsFree: 2 });
  for (let n = 0; n < 100; n++) void ask(keyActor("default"));
  await settle();
  await answer(100, 1);
  expect(begun).toHaveLength(100);
});

test("however many sessions viewers open, every second read that begins is an operator's while there is one", async () => {
  const { ask, begun, answer } = openShares();
  for (let n = 0; n < 50; n++) for (let reads = 0; reads < 3; reads++) void ask(viewer(String(n)));
  for (let n = 0; n < 10; n++) void ask(operator);
  await settle();
  expect(begun).toHaveLength(4);
  await answer(20, 1);
  const later = begun.slice(4).map(({ who }) => (who === "password" ? "operator" : "viewer"));
  expect(later.slice(0, 20).filter((who) => who === "operator")).toHaveLength(10);
});

test("beyond so many waiting requests a caller is told to come again, and nobody else is", async () => {
  const { ask, begun } = openShares({ waitingRequestsPerPrincipal: 5 });
  const asked = Array.from({ length: 8 }, () => ask(viewer("a")).catch((error: { code: string }) => error.code));
  await settle();
  expect(begun).toHaveLength(2);
  expect(await asked[7]).toBe("SERVER_BUSY");
  void ask(viewer("b"));
  await settle();
  expect(begun.at(-1)!.who).toBe("viewer session b");
});

test("a viewer that loops over pages has two of them with the store, each in bounded pieces, and sends are not counted", async () => {
  const server = await testServer();
  const { store } = await server.world.engine("default");
  const { reads } = store;
  const { eventPage } = reads;
  const seen = { now: 0, most: 0, examined: new Set<number>() };
  const held: (() => void)[] = [];
  reads.eventPage = async (...input) => {
    seen.examined.add(input[1].examinedMax);
    seen.most = Math.max(seen.most, ++seen.now);
    await new Promise<void>((resolve) => held.push(resolve));
    seen.now--;
    return eventPage.apply(reads, input);
  };
  const body = JSON.stringify({ input: [{ limit: 500, outcome: "duplicate", examinedMax: 50_000 }] });
  const headers = { "content-type": "application/json" };
  const looks = Array.from({ length: 12 }, (_, n) =>
    n % 2 === 0
      ? server.ask("/api/store/eventPage", { method: "POST", headers, body })
      : server.ask("/api/events?outcome=duplicate&limit=500"),
  );
  await expect.poll(() => held.length).toBe(2);
  const sent = await server.ask("/e/any", { method: "POST", headers, body: JSON.stringify({ name: "a", data: {} }) });
  expect([sent.status, (await server.ask("/health")).status]).toEqual([200, 200]);
  let done = false;
  const all = Promise.all(looks).then((answers) => {
    done = true;
    return answers;
  });
  while (!done) {
    for (const answer of held.splice(0)) answer();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect((await all).map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
  expect([seen.most, Math.max(...seen.examined)]).toEqual([2, 2_000]);
});
