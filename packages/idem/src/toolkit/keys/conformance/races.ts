// Many at once, from several processes as far as the store can tell: one wins, and everybody learns the same.
import assert from "node:assert/strict";
import type { KeyAnswer, KeyAsk } from "../key-store.ts";
import {
  asking,
  countOf,
  created,
  fingerprint,
  hold,
  type KeyStoreConformance,
  leaseMs,
  type OpenedKeyStore,
  windowMs,
} from "./world.ts";

const racers = 50;
const rounds = 200;

export function testRaces({ test, open }: KeyStoreConformance): void {
  const fourOf = (opened: OpenedKeyStore) => [opened.keys, opened.another(), opened.another(), opened.another()];
  const race = (stores: OpenedKeyStore["keys"][], ask: () => KeyAsk): Promise<KeyAnswer[]> =>
    Promise.all(Array.from({ length: racers }, (_, i) => stores[i % stores.length]!.claim(ask())));

  test("pitfall 2: of 50 askers at once, from 4 processes, one is fresh and the others are told it is in flight", async () => {
    const stores = fourOf(await open());
    const answers = await race(stores, () => asking("a"));
    assert.deepEqual([countOf(answers, "fresh"), countOf(answers, "in-flight")], [1, racers - 1]);
    assert.equal((await stores[0]!.read(asking("a").id))!.fence, 1);
  });

  test("of 50 takeovers of a dead lease one wins, with fence 2", async () => {
    const opened = await open();
    await hold(opened.keys, asking("a"));
    await opened.pass(leaseMs);
    const answers = await race(fourOf(opened), () => asking("a"));
    assert.deepEqual([countOf(answers, "fresh"), countOf(answers, "in-flight")], [1, racers - 1]);
    const record = (await opened.keys.read(asking("a").id))!;
    assert.deepEqual([record.fence, record.attempts], [2, 2]);
  });

  test("of 50 askers after the window one is fresh, also with bodies that differ", async () => {
    const opened = await open();
    await opened.keys.complete(await hold(opened.keys, asking("a")), created, 1_000);
    await opened.pass(1_000);
    let bodies = 0;
    const answers = await race(fourOf(opened), () => asking("a", { fingerprints: [fingerprint(`${++bodies % 2}`)] }));
    assert.equal(countOf(answers, "fresh"), 1);
    assert.equal(countOf(answers, "in-flight") + countOf(answers, "mismatch"), racers - 1);
  });

  test("50 askers of a dead claim that parks execute nothing", async () => {
    const opened = await open();
    await hold(opened.keys, asking("a", { onCrash: "park" }));
    await opened.pass(leaseMs);
    const answers = await race(fourOf(opened), () => asking("a", { onCrash: "park" }));
    assert.equal(countOf(answers, "parked"), racers);
  });

  test("the answer of one owner's repeated claims, all at once, is one claim", async () => {
    const opened = await open();
    const ask = asking("a");
    const answers = await race(fourOf(opened), () => ask);
    for (const answer of answers) assert.deepEqual(answer, { kind: "fresh", fence: 1, attempt: 1, point: null });
  });

  test("pitfall 7: a reaper between two retries, 200 times: one of them is fresh each time, and one record is left", async () => {
    const opened = await open();
    const [keys, second, third] = fourOf(opened);
    const name = (round: number) => `round ${round}`;
    const prepare = async (round: number): Promise<void> => {
      const holder = await hold(keys!, asking(name(round)));
      if (round % 2 === 0) await keys!.complete(holder, created, windowMs);
    };
    await Promise.all(Array.from({ length: rounds }, (_, round) => prepare(round)));
    await opened.pass(windowMs);
    for (let round = 0; round < rounds; round++) {
      const ask = () => asking(name(round));
      const [one, , two] = await Promise.all([second!.claim(ask()), keys!.reap(1), third!.claim(ask())]);
      assert.equal(countOf([one, two], "fresh"), 1, `round ${round}: ${one.kind}, ${two.kind}`);
      assert.equal(countOf([one, two], "in-flight"), 1, `round ${round}: ${one.kind}, ${two.kind}`);
    }
    const left = await Promise.all(Array.from({ length: rounds }, (_, round) => keys!.read(asking(name(round)).id)));
    assert.equal(left.filter((record) => record?.isLeased).length, rounds);
  });

  test("a late completion and a takeover at once: one of them wins, and both know which", async () => {
    const opened = await open();
    const [keys, second] = fourOf(opened);
    const late = await Promise.all(Array.from({ length: 50 }, (_, round) => hold(keys!, asking(`late ${round}`))));
    await opened.pass(leaseMs);
    for (let round = 0; round < 50; round++) {
      const both = [
        () => keys!.complete(late[round]!, created, windowMs),
        () => second!.claim(asking(`late ${round}`)),
      ];
      const order = round % 2 === 0 ? both : both.reverse();
      const answers = await Promise.all(order.map((call) => call()));
      const [completed, claimed] = (round % 2 === 0 ? answers : answers.reverse()) as [string, KeyAnswer];
      assert.equal(claimed.kind, completed === "held" ? "duplicate" : "fresh", `round ${round}`);
    }
  });

  test("several completers at once take up each record once", async () => {
    const opened = await open();
    const work = { name: "w", input: "1" };
    await Promise.all(Array.from({ length: 20 }, (_, i) => hold(opened.keys, asking(`work ${i}`, { work }))));
    await opened.pass(leaseMs);
    const taken: string[] = [];
    const take = async (keys: OpenedKeyStore["keys"], owner: string): Promise<number> => {
      const got = await keys.takeUnfinished({ work: "w", owner, leaseMs, limit: 3 });
      for (const { record, fence } of got) {
        assert.equal(fence, 2);
        taken.push(record.id);
      }
      return got.length;
    };
    const stores = fourOf(opened);
    for (let got = 1; got > 0; ) {
      const counts = await Promise.all(stores.map((keys, i) => take(keys, `completer ${i}`)));
      got = counts.reduce((sum, count) => sum + count, 0);
    }
    assert.deepEqual([taken.length, new Set(taken).size], [20, 20]);
  });
}
