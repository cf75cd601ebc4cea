import { expect, test } from "vitest";
import type { Decision } from "../model/decision.ts";
import type { Event } from "../model/event.ts";
import { findBroadKeys, type Suppressed } from "./suppressed.ts";

const event = (id: string, data: unknown): Event => ({
  id,
  callerId: "payment-user-9",
  name: "payment/made",
  data: JSON.stringify(data),
  ts: 1,
  extra: null,
  receivedAt: 1,
  firstEventId: null,
  sourceRunId: null,
});

const suppressed = (
  kind: "duplicate-key" | "duplicate-event",
  first: unknown,
  second: unknown,
  fn = "shop-pay",
): Suppressed => ({
  decision: {
    eventId: "e2",
    fn,
    kind,
    key: "9",
    runId: "r1",
    reason: null,
    firstEventId: "e1",
    windowEndsAt: 2,
    decidedAt: 1,
  } satisfies Decision,
  event: event("e2", second),
  first: event("e1", first),
});

const find = (list: Suppressed[]) =>
  findBroadKeys(list, () => ({ name: "pay", keyExpression: "event.data.userId" }), 100);

test("a key that suppressed another payment is named, with the paths that differed", async () => {
  const found = await find([
    suppressed(
      "duplicate-key",
      { userId: 9, paymentIntentId: "pi_1", amount: 1 },
      { userId: 9, paymentIntentId: "pi_2", amount: 2 },
    ),
  ]);
  expect(found).toMatchObject([
    { kind: "key-too-broad", facts: { count: 1, paths: { "event.data.paymentIntentId": 1, "event.data.amount": 1 } } },
  ]);
  expect(found[0]!.next).toContain("event.data.paymentIntentId");
});

test("an event suppressed by its id is one mistake, however many functions it reaches", async () => {
  const pair = [{ amount: 1 }, { amount: 2 }] as const;
  const found = await find([
    suppressed("duplicate-event", ...pair),
    suppressed("duplicate-event", ...pair, "shop-mail"),
  ]);
  expect(found).toMatchObject([{ kind: "id-too-broad", facts: { count: 1 } }]);
});

test("times, delivery ids and other words may differ: the seeds send requestedAt under one id", async () => {
  const first = { userId: 9, requestedAt: "2026-01-01T00:00:00Z", requestId: "a1", eventType: "INSERTED" };
  const second = { userId: 9, requestedAt: "2026-01-01T00:00:09Z", requestId: "b2", eventType: "UPDATED" };
  expect(await find([suppressed("duplicate-key", first, second)])).toEqual([]);
});
