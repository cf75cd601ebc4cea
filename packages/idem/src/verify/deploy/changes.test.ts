import { expect, test } from "vitest";
import type { FunctionConfig } from "../../model/function-config.ts";
import { changesOf, type Waiting } from "./changes.ts";

const now = Date.UTC(2026, 5, 1, 12);
const nothing: Waiting = {
  now,
  open: 0,
  queued: 0,
  pending: { held: 0, paused: 0, debounced: 0, batched: 0, isAll: true },
  windows: { count: 0, held: 0, until: null },
  crons: [],
  startedAt: [],
};
const config: FunctionConfig = {
  id: "bill",
  name: "bill",
  triggers: [{ event: "shop/bill" }],
  retries: 3,
  idempotency: null,
  startTimeoutMs: null,
  finishTimeoutMs: null,
};
const key = {
  key: "event.data.order",
  windowMs: 86_400_000,
  untilFinished: false,
  afterFailure: "keep",
  onMissing: "run",
} as const;

const told = (before: Partial<FunctionConfig>, is: Partial<FunctionConfig>, waiting: Partial<Waiting> = {}) =>
  changesOf({ ...config, ...before }, { ...config, ...is }, { ...nothing, ...waiting }).map(
    ({ what, waiting: count, isRisk }) => [what, count, isRisk],
  );

test("what is the same changes nothing, whatever waits", () => {
  const all = { idempotency: key, concurrency: [{ limit: 1, key: null, scope: "fn" as const }], finishTimeoutMs: 1 };
  expect(told(all, all, { open: 9, queued: 9, startedAt: [0] })).toEqual([]);
});

test("another key is a risk while windows of the old one are open, and none once they are over", () => {
  const other = { idempotency: { ...key, key: "event.data.invoice" } };
  const windows = { count: 2, held: 1, until: now + 1 };
  expect(told({ idempotency: key }, other, { windows })).toEqual([["idempotency", 2, true]]);
  expect(told({ idempotency: key }, other)).toEqual([["idempotency", 0, false]]);
  expect(told({ idempotency: key }, {}, { windows })).toEqual([["idempotency", 2, true]]);
  expect(told({}, { idempotency: key }, { open: 3 })).toEqual([["idempotency", 3, true]]);
  const longer = { idempotency: { ...key, windowMs: 1 } };
  expect(told({ idempotency: key }, longer, { windows })).toEqual([["idempotency.window", 2, false]]);
});

test("a schedule that goes takes its undecided ticks with it; without any it is no risk", () => {
  const daily = { triggers: [{ cron: "0 9 * * *" }] };
  const row = (lastTickAt: number) => ({ crons: [{ fn: "shop-bill", cron: "0 9 * * *", lastTickAt }] });
  expect(told(daily, { triggers: [] }, row(now - 2 * 86_400_000))).toEqual([["cron 0 9 * * *", 2, true]]);
  expect(told(daily, { triggers: [{ cron: "0 8 * * *" }] }, row(now))).toEqual([["cron 0 9 * * *", 0, false]]);
  expect(told({ triggers: [] }, daily)).toEqual([["cron 0 9 * * *", 0, false]]);
});

test("a shorter time for whole runs is a risk for those that began before it", () => {
  const startedAt = [now - 3_600_000, now - 3_599_999, null];
  expect(told({}, { finishTimeoutMs: 3_600_000 }, { startedAt })).toEqual([["timeouts.finish", 1, true]]);
  expect(told({ finishTimeoutMs: 1 }, {}, { startedAt })).toEqual([]);
});

test("limits and buffers are told with how many stand in line or are gathered", () => {
  const limited = { concurrency: [{ limit: 1, key: null, scope: "fn" as const }] };
  expect(told(limited, {}, { queued: 4 })).toEqual([["concurrency", 4, false]]);
  const gathering = { debounce: { periodMs: 1_000, timeoutMs: null, key: null } };
  const pending = { ...nothing.pending, debounced: 3, held: 2 };
  expect(told(gathering, {}, { pending })).toEqual([["debounce", 3, false]]);
  expect(told({}, { triggers: [] }, { pending })).toEqual([["trigger shop/bill", 5, false]]);
  const cancelling = { cancelOn: [{ event: "shop/cancelled", if: null, timeoutMs: null }] };
  expect(told({}, cancelling as Partial<FunctionConfig>, { open: 2 })).toEqual([["cancelOn", 2, false]]);
});
