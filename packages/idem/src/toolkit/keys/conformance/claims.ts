// One is first, and the others get its answer.
import assert from "node:assert/strict";
import type { KeyOutcome } from "../key-store.ts";
import {
  asking,
  created,
  fingerprint,
  hold,
  isDuplicateOf,
  isFresh,
  type KeyStoreConformance,
  leaseMs,
  sameOutcome,
  windowMs,
} from "./world.ts";

export function testClaims({ test, open }: KeyStoreConformance): void {
  test("T1: the first asker of a key is fresh, with fence 1, and the record says so", async () => {
    const { keys } = await open();
    const ask = asking("a", { work: { name: "create-order", input: '{"total":10}' } });
    assert.deepEqual(await keys.claim(ask), { kind: "fresh", fence: 1, attempt: 1, point: null });
    const record = await keys.read(ask.id);
    assert.ok(record !== null);
    assert.deepEqual(
      { ...record, createdAt: 0, endsAt: record.endsAt - record.createdAt },
      {
        id: ask.id,
        about: ask.about,
        state: "running",
        fence: 1,
        attempts: 1,
        isLeased: true,
        point: null,
        work: ask.work,
        outcome: null,
        parkedReason: null,
        createdAt: 0,
        completedAt: null,
        endsAt: windowMs,
      },
    );
  });

  test("T2, T3: whoever asks while the claimant runs is told so, and how long its lease lasts", async () => {
    const { keys, pass } = await open();
    await hold(keys, asking("a"));
    await pass(20_000);
    const answer = await keys.claim(asking("a"));
    assert.ok(answer.kind === "in-flight");
    assert.ok(answer.leaseLeftMs > 0 && answer.leaseLeftMs <= leaseMs - 20_000, `${answer.leaseLeftMs}`);
    assert.ok(answer.ageMs >= 20_000, `${answer.ageMs}`);
  });

  test("a claim whose answer was lost is the same claim when its owner asks again", async () => {
    const { keys } = await open();
    const ask = asking("a");
    const first = await keys.claim(ask);
    assert.deepEqual(await keys.claim(ask), first);
    assert.equal((await keys.claim(asking("a"))).kind, "in-flight");
  });

  test("a takeover whose answer was lost is the same takeover when its owner asks again", async () => {
    const { keys, pass } = await open();
    await hold(keys, asking("a"));
    await pass(leaseMs);
    const ask = asking("a");
    const first = await keys.claim(ask);
    assert.deepEqual(first, { kind: "fresh", fence: 2, attempt: 2, point: null });
    assert.deepEqual(await keys.claim(ask), first);
  });

  const outcomes: readonly [string, KeyOutcome][] = [
    ["a response", created],
    ["no body at all", { kind: "response", status: 204, headers: [], body: null }],
    ["an empty body", { kind: "response", status: 200, headers: [], body: new Uint8Array(0) }],
    [
      "bytes that are no text, and headers in their order",
      {
        kind: "response",
        status: 200,
        headers: [
          ["link", "</b>"],
          ["link", "</a>"],
          ["etag", '"ü"'],
        ],
        body: new Uint8Array([0xff, 0xfe, 0x00, 0x80]),
      },
    ],
    ["a reference", { kind: "reference", status: 201, headers: [["x-a", "1"]], reference: "blob/7" }],
    ["that it is gone (T18)", { kind: "gone", status: 200, reason: "too large" }],
  ];
  test("T8, T17, pitfall 16: an identical retry after completion is told the outcome as it was recorded", async () => {
    const { keys } = await open();
    for (const [name, outcome] of outcomes) {
      const holder = await hold(keys, asking(name));
      assert.equal(await keys.complete(holder, outcome, windowMs), "held", name);
      isDuplicateOf(await keys.claim(asking(name)), outcome);
      isDuplicateOf(await keys.claim(asking(name)), outcome);
      sameOutcome((await keys.read(holder.id))!.outcome, outcome);
    }
  });

  test("a duplicate is told when it was completed and when its window ends", async () => {
    const { keys, pass } = await open();
    const holder = await hold(keys, asking("a"));
    await pass(30_000);
    await keys.complete(holder, created, 5_000);
    const answer = await keys.claim(asking("a"));
    assert.ok(answer.kind === "duplicate");
    assert.equal(answer.endsAt - answer.completedAt, 5_000);
  });

  test("T4, pitfall 3: another body under a used key is a mismatch while it runs, after its lease died, and when it is completed", async () => {
    const { keys, pass } = await open();
    const other = () => asking("a", { fingerprints: [fingerprint("order 8")] });
    const first = await hold(keys, asking("a"));
    assert.equal((await keys.claim(other())).kind, "mismatch");
    await pass(leaseMs);
    for (const onCrash of ["resume", "rerun", "park"] as const) {
      assert.equal((await keys.claim({ ...other(), onCrash })).kind, "mismatch", onCrash);
    }
    assert.equal(await keys.complete(first, created, windowMs), "held");
    const answer = await keys.claim(other());
    assert.ok(answer.kind === "mismatch");
    assert.ok(answer.ageMs >= leaseMs);
    isDuplicateOf(await keys.claim(asking("a")), created);
  });

  test("pitfall 23: a record is compared by the algorithm it was written with", async () => {
    const { keys } = await open();
    const old = await hold(keys, asking("a", { fingerprints: [fingerprint("order 7", 1)] }));
    const both = (body: string) => asking("a", { fingerprints: [fingerprint(body, 2), fingerprint(body, 1)] });
    assert.equal((await keys.claim(both("order 7"))).kind, "in-flight");
    await keys.complete(old, created, windowMs);
    isDuplicateOf(await keys.claim(both("order 7")), created);
    assert.equal((await keys.claim(both("order 8"))).kind, "mismatch");
  });

  test("a record written with an algorithm this process does not know is not told to it", async () => {
    const { keys } = await open();
    const holder = await hold(keys, asking("a", { fingerprints: [fingerprint("order 7", 2)] }));
    await keys.complete(holder, created, windowMs);
    assert.equal((await keys.claim(asking("a", { fingerprints: [fingerprint("order 7", 1)] }))).kind, "mismatch");
  });

  test("T19: once its window has ended a key means a new operation, whatever its body", async () => {
    const { keys, pass } = await open();
    const first = await hold(keys, asking("a", { work: { name: "w", input: "1" } }));
    await keys.reach(first, { name: "charged", data: "{}" }, leaseMs);
    await keys.complete(first, created, 10_000);
    await pass(10_000);
    const ask = asking("a", { fingerprints: [fingerprint("order 8")] });
    assert.deepEqual(await keys.claim(ask), { kind: "fresh", fence: 2, attempt: 1, point: null });
    const record = (await keys.read(ask.id))!;
    assert.deepEqual(
      [record.state, record.outcome, record.completedAt, record.work, record.point, record.isLeased],
      ["running", null, null, null, null, true],
    );
    assert.equal((await keys.claim(asking("a"))).kind, "mismatch");
    assert.equal(await keys.complete(first, created, windowMs), "lost");
  });

  test("keys that differ by one letter know nothing of each other", async () => {
    const { keys } = await open();
    isFresh(await keys.claim(asking("key-a")));
    isFresh(await keys.claim(asking("Key-A")));
  });

  test("a record nobody made is not there", async () => {
    const { keys } = await open();
    assert.equal(await keys.read(asking("a").id), null);
  });
}
