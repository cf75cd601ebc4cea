// A claimant's writes, and the refusal of those by one that lost its key.
import assert from "node:assert/strict";
import type { KeyHolder, KeyStore } from "../key-store.ts";
import { asking, created, hold, isDuplicateOf, isFresh, type KeyStoreConformance, leaseMs, windowMs } from "./world.ts";

const point = { name: "charged", data: '{"charge":"ch_1"}' };

const writes: Readonly<Record<string, (keys: KeyStore, holder: KeyHolder) => Promise<string>>> = {
  heartbeat: (keys, holder) => keys.heartbeat(holder, leaseMs),
  complete: (keys, holder) => keys.complete(holder, created, windowMs),
  reach: (keys, holder) => keys.reach(holder, point, leaseMs),
  release: (keys, holder) => keys.release(holder),
  leave: (keys, holder) => keys.leave(holder, 0),
  park: (keys, holder) => keys.park(holder, "a person"),
};

export function testHolders({ test, open }: KeyStoreConformance): void {
  test("T15: a heartbeat extends the lease", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a"));
    await pass(leaseMs - 1_000);
    assert.equal(await keys.heartbeat(holder, leaseMs), "held");
    await pass(leaseMs - 1_000);
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
  });

  test("a claimant that was only slow goes on, as long as nobody took over", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a"));
    await pass(2 * leaseMs);
    assert.equal(await keys.heartbeat(holder, leaseMs), "held");
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
    await pass(2 * leaseMs);
    assert.equal(await keys.complete(holder, created, windowMs), "held");
    isDuplicateOf(await keys.claim(asking("a")), created);
  });

  test("T14, T16, pitfall 15: whatever an overtaken claimant writes is lost and changes nothing", async () => {
    const { keys, pass } = await open();
    for (const [name, write] of Object.entries(writes)) {
      const late = await hold(keys, asking(name));
      await pass(leaseMs);
      const current = await hold(keys, asking(name));
      const before = (await keys.read(late.id))!;
      assert.equal(await write(keys, late), "lost", name);
      // Neither half of who it is lets it in.
      assert.equal(await write(keys, { ...late, fence: current.fence }), "lost", name);
      assert.equal(await write(keys, { ...current, fence: late.fence }), "lost", name);
      assert.deepEqual(await keys.read(late.id), before, name);
      // A third one arrives between: still one at a time.
      assert.equal((await keys.claim(asking(name))).kind, "in-flight", name);
      assert.equal(await keys.complete(current, created, windowMs), "held", name);
      assert.equal(await write(keys, late), "lost", name);
      isDuplicateOf(await keys.claim(asking(name)), created);
    }
  });

  test("what somebody writes who never had the key is lost", async () => {
    const { keys } = await open();
    const holder = await hold(keys, asking("a"));
    for (const [name, write] of Object.entries(writes)) {
      assert.equal(await write(keys, { ...holder, owner: "a stranger" }), "lost", name);
    }
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
  });

  test("everything a claimant writes may be said twice", async () => {
    const { keys } = await open();
    for (const [name, write] of Object.entries(writes)) {
      const holder = await hold(keys, asking(name));
      assert.equal(await write(keys, holder), "held", name);
      assert.equal(await write(keys, holder), "held", `${name} again`);
    }
  });

  test("an outcome and its window stay as they were recorded first", async () => {
    const { keys } = await open();
    const holder = await hold(keys, asking("a"));
    await keys.complete(holder, created, 5_000);
    const before = await keys.read(holder.id);
    const other = { kind: "response", status: 500, headers: [], body: null } as const;
    assert.equal(await keys.complete(holder, other, windowMs), "held");
    for (const [name, write] of Object.entries(writes)) {
      if (name !== "complete") assert.equal(await write(keys, holder), "lost", name);
    }
    assert.deepEqual(await keys.read(holder.id), before);
  });

  test("T9: what cannot be told again is completed, too, and never executes", async () => {
    const { keys } = await open();
    const holder = await hold(keys, asking("a"));
    const gone = { kind: "gone", status: 200, reason: "streamed" } as const;
    assert.equal(await keys.complete(holder, gone, windowMs), "held");
    isDuplicateOf(await keys.claim(asking("a", { onCrash: "rerun" })), gone);
  });

  test("T10: a released key is free, and its next claimant's record is safe from the last one's", async () => {
    const { keys } = await open();
    const first = await hold(keys, asking("a"));
    assert.equal(await keys.release(first), "held");
    assert.equal(await keys.read(first.id), null);
    const second = await hold(keys, asking("a"));
    assert.equal(second.fence, 1);
    assert.equal(await keys.release(first), "lost");
    assert.equal(await keys.complete(first, created, windowMs), "lost");
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
  });

  test("T12, T23: work that was left goes on at its point with whoever asks next, for nobody died", async () => {
    for (const onCrash of ["resume", "rerun", "park"] as const) {
      const { keys } = await open();
      const first = await hold(keys, asking("a", { onCrash }));
      await keys.reach(first, point, leaseMs);
      assert.equal(await keys.leave(first, 30_000), "held");
      assert.equal((await keys.read(first.id))!.isLeased, false);
      // A heartbeat that comes after it would hold the key for nobody.
      assert.equal(await keys.heartbeat(first, leaseMs), "lost");
      assert.equal(await keys.reach(first, { name: "later", data: "1" }, leaseMs), "lost");
      const answer = await keys.claim(asking("a", { onCrash }));
      assert.deepEqual(answer, { kind: "fresh", fence: 2, attempt: 2, point }, onCrash);
      assert.equal(await keys.complete(first, created, windowMs), "lost");
    }
  });

  test("a claimant that left and finished after all may say so, until somebody goes on", async () => {
    const { keys } = await open();
    const first = await hold(keys, asking("a"));
    await keys.leave(first, 0);
    assert.equal(await keys.complete(first, created, windowMs), "held");
    isDuplicateOf(await keys.claim(asking("a")), created);
  });

  test("a point extends the lease and takes the place of the one before", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a", { onCrash: "resume" }));
    await keys.reach(holder, { name: "begun", data: "null" }, leaseMs);
    await pass(leaseMs - 1_000);
    await keys.reach(holder, point, leaseMs);
    await pass(leaseMs - 1_000);
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
    assert.deepEqual((await keys.read(holder.id))!.point, point);
    await pass(1_000);
    const answer = await keys.claim(asking("a", { onCrash: "resume" }));
    isFresh(answer);
    assert.deepEqual(answer.point, point);
  });
}
