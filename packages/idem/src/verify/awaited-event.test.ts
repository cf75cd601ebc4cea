import { describe, expect, test } from "vitest";
import { compileExpression } from "../model/expression.ts";
import { evaluateFilter } from "../model/expression-outcome.ts";
import { awaitedData } from "./awaited-event.ts";

const event = { name: "shop/order.placed", data: { orderId: "o-1", total: 40, customer: { id: "c-1" } } };
const name = "payment/received";

describe("the event that a run waits for", () => {
  test("has the run's own data where nothing is asked of it, and what somebody gave in its place", () => {
    expect(awaitedData({ name, event })).toEqual({ data: event.data });
    expect(awaitedData({ name, event, match: "data.orderId", given: { amount: 40, orderId: "another" } })).toEqual({
      data: { ...event.data, amount: 40, orderId: "o-1" },
    });
  });

  test.each([
    "async.data.orderId == event.data.orderId",
    "async.data.reference == event.data.orderId",
    "event.data.customer.id == async.data.payer.id && async.data.status == 'paid'",
    "async.data.amount >= event.data.total",
    "async.data.amount > 100 && async.data.amount < 102",
    "5 > async.data.count",
    "async.data.isFinal",
    "!async.data.isTest && async.data.isFinal == true",
    "async.data.kind in ['card', 'bank']",
    "async.data.status != 'failed'",
    "async.data.note != null",
    "has(async.data.receipt)",
    "async.data.status == 'paid' || async.data.status == 'settled'",
    "!(async.data.status == 'failed' || async.data.amount < event.data.total)",
    "async.data['order-ref'] == event.data.orderId",
    "async.data.iban.startsWith('DE')",
    "async.name == 'payment/received' && async.data.paid",
  ])("is made so that its condition holds: %s", (condition) => {
    const made = awaitedData({ name, event, if: condition });
    expect(made).not.toBeNull();
    const scope = { event, async: { name, id: "1", ts: 0, data: made!.data } };
    expect(evaluateFilter(compileExpression(condition), scope)).toEqual({ pass: true });
  });

  test.each([
    "async.data.orderId == event.data.absent",
    "async.name == 'payment/other'",
    "size(async.data.lines) > 3",
    "async.data.amount > 100 && async.data.amount < 50",
  ])("is not made up where nobody can tell what it would be: %s", (condition) => {
    expect(awaitedData({ name, event, if: condition })).toBeNull();
  });

  test("is not made where the run's own event has nothing to match", () => {
    expect(awaitedData({ name, event, match: "data.userId" })).toBeNull();
  });

  test("is what somebody gave where the condition cannot be read", () => {
    const condition = "size(async.data.lines) > 1 && async.data.orderId == event.data.orderId";
    expect(awaitedData({ name, event, if: condition, given: { lines: [1, 2], orderId: "x" } })).toEqual({
      data: { ...event.data, lines: [1, 2], orderId: "o-1" },
    });
  });
});
