// A key whose claimant died: the author's choice.
import assert from "node:assert/strict";
import {
  asking,
  created,
  fingerprint,
  hold,
  isDuplicateOf,
  isFresh,
  type KeyStoreConformance,
  leaseMs,
  windowMs,
} from "./world.ts";

const point = { name: "ride_created", data: '{"rideId":7}' };

export function testDeadClaims({ test, open }: KeyStoreConformance): void {
  test("T5: with resume, the next asker goes on at the last point, with the next fence", async () => {
    const { keys, pass } = await open();
    const first = await hold(keys, asking("a", { onCrash: "resume" }));
    assert.equal(await keys.reach(first, point, leaseMs), "held");
    await pass(leaseMs);
    assert.deepEqual(await keys.claim(asking("a", { onCrash: "resume" })), {
      kind: "fresh",
      fence: 2,
      attempt: 2,
      point,
    });
    assert.equal((await keys.claim(asking("a", { onCrash: "resume" }))).kind, "in-flight");
  });

  test("T6: with rerun, the next asker runs from the top and is told that it is not the first", async () => {
    const { keys, pass } = await open();
    const first = await hold(keys, asking("a"));
    await keys.reach(first, point, leaseMs);
    await pass(leaseMs);
    assert.deepEqual(await keys.claim(asking("a")), { kind: "fresh", fence: 2, attempt: 2, point: null });
    await pass(leaseMs);
    assert.deepEqual(await keys.claim(asking("a")), { kind: "fresh", fence: 3, attempt: 3, point: null });
  });

  test("T7: with park, nobody executes again until a person decides", async () => {
    const { keys, pass } = await open();
    const first = await hold(keys, asking("a", { onCrash: "park" }));
    await pass(leaseMs);
    for (const onCrash of ["park", "rerun", "resume"] as const) {
      const answer = await keys.claim(asking("a", { onCrash }));
      assert.ok(answer.kind === "parked", onCrash);
      assert.ok(answer.reason.length > 10);
      assert.ok(answer.ageMs >= leaseMs);
    }
    assert.equal(await keys.complete(first, created, windowMs), "lost");
    assert.equal(await keys.park(first, "late"), "lost");
    await pass(10 * windowMs);
    assert.equal((await keys.claim(asking("a", { onCrash: "rerun" }))).kind, "parked");
  });

  test("a lease ends on its last millisecond, not before", async () => {
    const { keys, pass } = await open();
    await hold(keys, asking("a", { leaseMs: 3_600_000 }));
    await pass(3_590_000);
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
    await pass(10_000);
    isFresh(await keys.claim(asking("a")));
  });

  test("while it runs a record is kept for ten leases at least, and a takeover begins its window anew", async () => {
    const { keys, pass } = await open();
    const ask = asking("a", { windowMs: 1_000 });
    await hold(keys, ask);
    const kept = async () => {
      const { endsAt, createdAt } = (await keys.read(ask.id))!;
      return endsAt - createdAt;
    };
    assert.equal(await kept(), 10 * leaseMs);
    await pass(leaseMs);
    await hold(keys, asking("a", { windowMs: 1_000 }));
    assert.ok((await kept()) >= 11 * leaseMs);
  });

  test("T19: a dead claim past its window is another body's only where both may rerun", async () => {
    const { keys, pass } = await open();
    const other = (name: string) => asking(name, { fingerprints: [fingerprint("order 8")] });
    await hold(keys, asking("rerun"));
    await hold(keys, asking("resume", { onCrash: "resume" }));
    await hold(keys, asking("park", { onCrash: "park" }));
    await hold(keys, asking("work", { work: { name: "w", input: "1" } }));
    await pass(windowMs);
    for (const name of ["resume", "park", "work"]) {
      assert.equal((await keys.claim(other(name))).kind, "mismatch", name);
    }
    assert.equal((await keys.claim({ ...other("rerun"), onCrash: "park" })).kind, "mismatch");
    assert.deepEqual(await keys.claim(other("rerun")), { kind: "fresh", fence: 2, attempt: 1, point: null });
  });

  test("a live lease past its window is nobody else's", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a"));
    await pass(windowMs - 1_000);
    assert.equal(await keys.heartbeat(holder, leaseMs), "held");
    await pass(2_000);
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
    assert.equal((await keys.claim(asking("a", { fingerprints: [fingerprint("order 8")] }))).kind, "mismatch");
    assert.equal(await keys.reap(10), 0);
    assert.equal(await keys.complete(holder, created, windowMs), "held");
    isDuplicateOf(await keys.claim(asking("a")), created);
  });
}
