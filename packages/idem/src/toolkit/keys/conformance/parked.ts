// Keys that wait for a person, and the decisions a person may make.
import assert from "node:assert/strict";
import {
  asking,
  created,
  fingerprint,
  hold,
  isDuplicateOf,
  type KeyStoreConformance,
  leaseMs,
  type OpenedKeyStore,
  windowMs,
} from "./world.ts";

const reply = { status: 201, headers: [["x-by", "a person"]], body: new Uint8Array([1, 2]) } as const;

export function testParked({ test, open }: KeyStoreConformance): void {
  const parked = async ({ keys }: OpenedKeyStore, name: string, change = {}) => {
    const holder = await hold(keys, asking(name, change));
    await keys.park(holder, `about ${name}`);
    return holder;
  };

  test("a parked record tells why, to every asker, and to nobody with another body", async () => {
    const opened = await open();
    const { id } = await parked(opened, "a");
    const answer = await opened.keys.claim(asking("a"));
    assert.ok(answer.kind === "parked");
    assert.equal(answer.reason, "about a");
    assert.equal((await opened.keys.claim(asking("a", { fingerprints: [fingerprint("x")] }))).kind, "mismatch");
    const record = (await opened.keys.read(id))!;
    assert.deepEqual([record.state, record.parkedReason, record.isLeased], ["parked", "about a", false]);
  });

  test("T21: a person's response is what whoever asks again is told, for its window", async () => {
    const { keys, pass, ...rest } = await open();
    const holder = await parked({ keys, pass, ...rest }, "a");
    assert.equal(await keys.resolve(holder.id, { kind: "response", response: reply, windowMs: 5_000 }), "resolved");
    isDuplicateOf(await keys.claim(asking("a")), { kind: "response", ...reply });
    assert.equal(await keys.complete(holder, created, windowMs), "held");
    isDuplicateOf(await keys.claim(asking("a")), { kind: "response", ...reply });
    await pass(5_000);
    assert.equal((await keys.claim(asking("a"))).kind, "fresh");
  });

  test("T21: retry lets the next asker execute", async () => {
    const opened = await open();
    const holder = await parked(opened, "a", { onCrash: "park" });
    assert.equal(await opened.keys.resolve(holder.id, { kind: "retry" }), "resolved");
    assert.equal((await opened.keys.claim(asking("a", { onCrash: "park" }))).kind, "fresh");
    assert.equal(await opened.keys.complete(holder, created, windowMs), "lost");
  });

  test("T21: retry of work that reached a point goes on there, not from the top", async () => {
    const { keys } = await open();
    const work = { name: "w", input: "1" };
    const ask = asking("a", { onCrash: "park", work });
    const holder = await hold(keys, ask);
    await keys.reach(holder, { name: "charged", data: "1" }, leaseMs);
    await keys.park(holder, "too many attempts");
    assert.equal(await keys.resolve(ask.id, { kind: "retry" }), "resolved");
    const [taken] = await keys.takeUnfinished({ work: "w", owner: "completer", leaseMs, limit: 10 });
    assert.deepEqual([taken?.fence, taken?.attempt, taken?.record.point?.name], [2, 2, "charged"]);
    await keys.leave({ id: ask.id, owner: "completer", fence: 2 }, 0);
    const answer = await keys.claim(asking("a", { onCrash: "park", work }));
    assert.deepEqual(answer, { kind: "fresh", fence: 3, attempt: 3, point: { name: "charged", data: "1" } });
  });

  test("T21: a forgotten key is free, for any body", async () => {
    const opened = await open();
    const { id } = await parked(opened, "a", { work: { name: "w", input: "1" } });
    assert.equal(await opened.keys.resolve(id, { kind: "forget" }), "resolved");
    assert.equal(await opened.keys.read(id), null);
    assert.equal((await opened.keys.claim(asking("a", { fingerprints: [fingerprint("x")] }))).kind, "fresh");
  });

  test("only what is parked can be resolved, and only once", async () => {
    const opened = await open();
    const { keys } = opened;
    const running = await hold(keys, asking("running"));
    const { id } = await parked(opened, "a");
    await keys.resolve(id, { kind: "response", response: reply, windowMs });
    for (const resolution of [
      { kind: "response", response: reply, windowMs },
      { kind: "retry" },
      { kind: "forget" },
    ] as const) {
      assert.equal(await keys.resolve(id, resolution), "not-parked");
      assert.equal(await keys.resolve(running.id, resolution), "not-parked");
      assert.equal(await keys.resolve(asking("unknown").id, resolution), "unknown");
    }
    assert.equal((await keys.claim(asking("running"))).kind, "in-flight");
  });

  test("parked records are listed oldest first, in pages, also while they are being resolved", async () => {
    const opened = await open();
    const { keys, pass } = opened;
    const ids: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) {
      ids.push((await parked(opened, name)).id);
      await pass(1_000);
    }
    await hold(keys, asking("running"));
    const page = async (after: string | null) => (await keys.parked({ limit: 2, after })).map(({ id }) => id);
    assert.deepEqual(await page(null), ids.slice(0, 2));
    assert.deepEqual(await page(ids[1]!), ids.slice(2, 4));
    assert.deepEqual(await page(ids[3]!), ids.slice(4));
    assert.deepEqual(await page(ids[4]!), []);
    await keys.resolve(ids[0]!, { kind: "forget" });
    await keys.resolve(ids[1]!, { kind: "forget" });
    assert.deepEqual(await page(ids[1]!), ids.slice(2, 4));
  });
}
