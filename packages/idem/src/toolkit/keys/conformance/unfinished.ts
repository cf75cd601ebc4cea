// A completer takes up unfinished work; the reaper leaves it alone.
import assert from "node:assert/strict";
import { asking, created, hold, type KeyStoreConformance, leaseMs, windowMs } from "./world.ts";

export function testUnfinished({ test, open }: KeyStoreConformance): void {
  const work = { name: "create-ride", input: '{"to":"Paris"}' };
  const taking = (change = {}) => ({ work: work.name, owner: "completer", leaseMs, limit: 10, ...change });

  test("work whose claimant died is taken up once, with the next fence, its point and its input", async () => {
    const { keys, pass } = await open();
    const ask = asking("a", { work, onCrash: "resume" });
    const first = await hold(keys, ask);
    await keys.reach(first, { name: "charged", data: "7" }, leaseMs);
    assert.deepEqual(await keys.takeUnfinished(taking()), []);
    await pass(leaseMs);
    const [taken, ...others] = await keys.takeUnfinished(taking());
    assert.equal(others.length, 0);
    assert.deepEqual([taken?.fence, taken?.attempt, taken?.record.fence, taken?.record.isLeased], [2, 2, 2, true]);
    assert.deepEqual([taken?.record.point, taken?.record.work], [{ name: "charged", data: "7" }, work]);
    assert.deepEqual(await keys.takeUnfinished(taking({ owner: "another" })), []);
    assert.equal((await keys.claim(asking("a", { work }))).kind, "in-flight");
    assert.equal(await keys.complete(first, created, windowMs), "lost");
    assert.equal(await keys.complete({ id: ask.id, owner: "completer", fence: 2 }, created, windowMs), "held");
    assert.deepEqual(await keys.takeUnfinished(taking({ owner: "another" })), []);
  });

  test("work whose claimant still beats is nobody else's, however long it takes", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a", { work }));
    for (let i = 0; i < 3; i++) {
      await pass(leaseMs - 1_000);
      assert.equal(await keys.heartbeat(holder, leaseMs), "held");
      assert.deepEqual(await keys.takeUnfinished(taking()), []);
    }
    await pass(leaseMs);
    assert.equal((await keys.takeUnfinished(taking())).length, 1);
  });

  test("work that was left is taken up when its time has come, not before", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a", { work }));
    await keys.leave(holder, 30_000);
    await pass(20_000);
    assert.deepEqual(await keys.takeUnfinished(taking()), []);
    await pass(10_000);
    assert.equal((await keys.takeUnfinished(taking())).length, 1);
  });

  test("only work of the name is taken, at most as much as asked, those due longest first", async () => {
    const { keys, pass } = await open();
    await hold(keys, asking("plain"));
    await hold(keys, asking("other", { work: { name: "other", input: "1" } }));
    await keys.park(await hold(keys, asking("parked", { work })), "why");
    await keys.complete(await hold(keys, asking("done", { work })), created, windowMs);
    for (const name of ["a", "b", "c"]) {
      await hold(keys, asking(name, { work }));
      await pass(1_000);
    }
    await pass(leaseMs);
    const idsOf = async (limit: number) =>
      (await keys.takeUnfinished(taking({ limit }))).map(({ record }) => record.id).sort();
    assert.deepEqual(await idsOf(2), [asking("a").id, asking("b").id].sort());
    assert.deepEqual(await idsOf(2), [asking("c").id]);
    assert.deepEqual(await idsOf(2), []);
  });

  test("T20, pitfall 7: the reaper takes what has ended and may go, and nothing else", async () => {
    const { keys, pass } = await open();
    const goes = ["done", "dead"];
    await keys.complete(await hold(keys, asking("done")), created, windowMs);
    await hold(keys, asking("dead"));
    await keys.complete(await hold(keys, asking("remembered")), created, 2 * windowMs);
    await hold(keys, asking("resumes", { onCrash: "resume" }));
    await hold(keys, asking("parks", { onCrash: "park" }));
    await hold(keys, asking("work", { work }));
    await keys.park(await hold(keys, asking("parked")), "why");
    const alive = await hold(keys, asking("alive"));
    assert.equal(await keys.reap(100), 0);
    await pass(windowMs);
    await keys.heartbeat(alive, leaseMs);
    assert.equal(await keys.reap(1), 1);
    assert.equal(await keys.reap(100), 1);
    assert.equal(await keys.reap(100), 0);
    for (const name of goes) assert.equal(await keys.read(asking(name).id), null, name);
    for (const name of ["remembered", "resumes", "parks", "work", "parked", "alive"]) {
      assert.notEqual(await keys.read(asking(name).id), null, name);
    }
  });
}
