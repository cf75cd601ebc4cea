import { expect, test } from "vitest";
import type { Reconciled } from "../../execute/attempt-effect.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { Adapter } from "../sql/adapter.ts";
import { eachDatabase, type TestDatabase } from "../sql/databases.suite.ts";
import { createSentLog, type OnUnknown } from "./create-sent-log.ts";
import { Refused } from "./receipt.ts";

const receipt = { template: "receipt", recipient: "ada@example.com", about: "order-7", window: "1d" };
let seeds = 0;

const logOn = (adapter: Adapter<any>, choice: OnUnknown = { onUnknown: "park" }, onParked = () => {}) =>
  createSentLog(adapter, { platform: new ManualPlatform({ seed: ++seeds }), onParked, ...choice });

/** A process that dies after the first byte left: it never comes back. */
const dieSending = async (adapter: Adapter<any>): Promise<string> => {
  const tag = await new Promise<string>((began) => {
    void logOn(adapter).once(receipt, (context) => {
      began(context.tag);
      return new Promise(() => {});
    });
  });
  return tag;
};

/** The time by the database's clock, in milliseconds. */
const nowIn = async (db: TestDatabase): Promise<number> => {
  const sql = {
    sqlite: "(julianday('now') - 2440587.5) * 86400000",
    postgres: "extract(epoch from clock_timestamp()) * 1000",
  };
  return Number((await db.rows(`select ${sql[db.dialect]} as ms`))[0].ms);
};

eachDatabase((open) => {
  test("a second caller gets the first one's receipt, and nothing is sent", async () => {
    const db = await open();
    let sends = 0;
    const send = () => ({ messageId: `m${++sends}` });
    expect(await logOn(db.adapter).once(receipt, send)).toEqual({ kind: "done", receipt: { messageId: "m1" } });
    expect(await logOn(db.another()).once(receipt, send)).toEqual({
      kind: "duplicate",
      receipt: { messageId: "m1" },
    });
    expect(await logOn(db.adapter).once({ ...receipt, about: "order-8" }, send)).toMatchObject({ kind: "done" });
    expect(await logOn(db.adapter).once({ ...receipt, recipient: "bob@example.com" }, send)).toMatchObject({
      kind: "done",
    });
  });

  test("of many callers at once one sends, and the others are told that it is in flight", async () => {
    const db = await open();
    let sends = 0;
    let finish = () => {};
    const all = [db.adapter, db.another(), db.another()].flatMap((adapter) =>
      [1, 2, 3].map(() =>
        logOn(adapter).once(receipt, async () => {
          sends++;
          await new Promise<void>((resolve) => (finish = resolve));
        }),
      ),
    );
    const settled: string[] = [];
    for (const one of all) void one.then(({ kind }) => settled.push(kind));
    await expect.poll(() => settled.length).toBe(8);
    finish();
    const outcomes = (await Promise.all(all)).map(({ kind }) => kind).sort();
    expect([sends, outcomes]).toEqual([1, ["done", ...Array(8).fill("in-flight")]]);
  });

  test("once the window is over, the same is sent again under another tag", async () => {
    const db = await open();
    const log = logOn(db.adapter);
    const tags: string[] = [];
    const send = ({ tag, attempt }: { tag: string; attempt: number }) => {
      expect(attempt).toBe(1);
      tags.push(tag);
    };
    await log.once(receipt, send);
    await db.age("idem_claims", 86_400_001);
    expect(await log.once(receipt, send)).toMatchObject({ kind: "done" });
    // Also where nobody remembers that there was a window before.
    await db.age("idem_claims", 86_400_001);
    expect(await log.reap()).toBe(1);
    // Rows were aged, not the clock; a window has its opening's millisecond to itself, and two were opened.
    const opened = await nowIn(db);
    await expect.poll(() => nowIn(db), { interval: 1 }).toBeGreaterThan(opened + 2);
    expect(await log.once(receipt, send)).toMatchObject({ kind: "done" });
    expect(new Set(tags).size).toBe(3);
    expect(tags.every((tag) => /^[\w-]{45}$/.test(tag))).toBe(true);
  });

  test("a definite refusal is answered, and who asks again sends again", async () => {
    const db = await open();
    const log = logOn(db.adapter);
    const refused = await log.once(receipt, () => {
      throw new Refused("no such mailbox");
    });
    expect(refused).toMatchObject({ kind: "refused", reason: "no such mailbox" });
    expect(await log.once(receipt, () => new Response("bad", { status: 422 }))).toMatchObject({
      kind: "refused",
      reason: "HTTP 422",
    });
    expect(await log.once(receipt, ({ attempt }) => ({ attempt }))).toEqual({
      kind: "done",
      receipt: { attempt: 3 },
    });
  });

  test("of a Response, status and body are kept", async () => {
    const db = await open();
    const log = logOn(db.adapter);
    await log.once(receipt, () => new Response('{"id":"m1"}', { status: 202 }));
    expect(await log.once(receipt, () => new Response("again"))).toEqual({
      kind: "duplicate",
      receipt: { status: 202, body: '{"id":"m1"}' },
    });
  });

  test("park: a reset connection is never a refusal, so nothing is sent until a person has decided", async () => {
    const db = await open();
    let alerts = 0;
    const log = logOn(db.adapter, { onUnknown: "park" }, () => void alerts++);
    const reset = log.once(receipt, () => Promise.reject(new Error("ECONNRESET")));
    await expect(reset).rejects.toThrow("ECONNRESET");
    expect(await log.once(receipt, () => expect.unreachable())).toMatchObject({ kind: "parked" });
    expect(alerts).toBe(1);
    const [parked] = await log.parked();
    expect(parked).toMatchObject({ template: "receipt", recipient: "ada@example.com", reason: "Error: ECONNRESET" });
    await db.age("idem_claims", 400 * 86_400_000);
    expect(await log.reap()).toBe(0);
    expect(await log.resolve(parked!.id, "not-sent")).toBe(true);
    expect(await log.once(receipt, () => "m2")).toEqual({ kind: "done", receipt: "m2" });
    expect(await log.resolve(parked!.id, { sent: "m1" })).toBe(false);
  });

  test("park: what a dead process was sending is sent at most once", async () => {
    const db = await open();
    const log = logOn(db.adapter);
    await dieSending(db.another());
    expect(await log.once(receipt, () => expect.unreachable())).toMatchObject({ kind: "in-flight" });
    await db.age("idem_claims", 61_000);
    const { id } = (await log.once(receipt, () => expect.unreachable())) as { id: string };
    expect(await log.resolve(id, { sent: "seen in the provider's log" })).toBe(true);
    expect(await log.once(receipt, () => expect.unreachable())).toEqual({
      kind: "duplicate",
      receipt: "seen in the provider's log",
    });
  });

  test("resend: what a dead process was sending is sent again, under the same tag", async () => {
    const db = await open();
    const log = logOn(db.adapter, { onUnknown: "resend" });
    const tag = await dieSending(db.another());
    await db.age("idem_claims", 61_000);
    expect(await log.once(receipt, (context) => [context.tag, context.attempt])).toEqual({
      kind: "done",
      receipt: [tag, 2],
    });
  });

  test("reconcile: what the provider knows is not sent again", async () => {
    const db = await open();
    const tag = await dieSending(db.another());
    await db.age("idem_claims", 61_000);
    const asked: string[] = [];
    const log = logOn(db.adapter, {
      onUnknown: "reconcile",
      reconcileAfter: "2m",
      reconcile: (doubt) => {
        asked.push(doubt.tag);
        return { found: { messageId: "m1" } };
      },
    });
    expect(await log.once(receipt, () => expect.unreachable())).toEqual({
      kind: "duplicate",
      receipt: { messageId: "m1" },
    });
    expect(asked).toEqual([tag]);
  });

  test("reconcile: absent is believed only once the provider's search must show it", async () => {
    const db = await open();
    await dieSending(db.another());
    await db.age("idem_claims", 61_000);
    let found: Reconciled = "absent";
    const log = logOn(db.adapter, { onUnknown: "reconcile", reconcileAfter: "2m", reconcile: () => found });
    const early = await log.once(receipt, () => expect.unreachable());
    expect(early).toMatchObject({ kind: "unknown", retryAfterMs: expect.any(Number) });
    await db.age("idem_claims", 120_000);
    found = "unknown";
    expect(await log.once(receipt, () => expect.unreachable())).toMatchObject({ kind: "unknown" });
    found = "absent";
    expect(await log.once(receipt, () => "m2")).toEqual({ kind: "done", receipt: "m2" });
  });

  test("a receipt that comes late ends the doubt", async () => {
    const db = await open();
    const log = logOn(db.adapter);
    let answer = (_value: string) => {};
    const late = logOn(db.another()).once(receipt, () => new Promise<string>((resolve) => (answer = resolve)));
    await expect.poll(() => db.rows("select 1 from idem_claims")).toHaveLength(1);
    await db.age("idem_claims", 61_000);
    expect(await log.once(receipt, () => expect.unreachable())).toMatchObject({ kind: "parked" });
    answer("m1");
    expect(await late).toEqual({ kind: "done", receipt: "m1" });
    expect(await log.once(receipt, () => expect.unreachable())).toEqual({ kind: "duplicate", receipt: "m1" });
  });

  test("what was sent stays sent although its receipt cannot be kept", async () => {
    const db = await open();
    const log = logOn(db.adapter);
    await expect(log.once(receipt, () => ({ when: Number.NaN }))).rejects.toThrow();
    expect(await log.once(receipt, () => expect.unreachable())).toEqual({ kind: "duplicate", receipt: null });
  });

  test("the choice what to do about the unknown is required", async () => {
    const { adapter } = await open();
    // @ts-expect-error: onUnknown
    expect(() => createSentLog(adapter, {})).toThrow(/onUnknown/);
    // @ts-expect-error: reconcile, reconcileAfter
    expect(() => createSentLog(adapter, { onUnknown: "reconcile" })).toThrow(/reconcile/);
  });
});
