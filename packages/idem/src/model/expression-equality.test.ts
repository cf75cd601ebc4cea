import { describe, expect, test } from "vitest";
import { compileExpression } from "./expression.ts";
import { takeEquality } from "./expression-equality.ts";

const event = {
  id: "e1",
  name: "order/placed",
  ts: 1_700_000_000_000,
  data: {
    id: "o-7",
    n: 7,
    half: 1.5,
    huge: 1e300,
    zero: -0,
    yes: true,
    nothing: null,
    text: "ö".normalize("NFD"),
    broken: "\ud800",
    long: "x".repeat(600),
    list: [1],
    map: { a: 1 },
    nested: { "a b": "deep" },
  },
};

const take = (text: string) => takeEquality(compileExpression(text), event);

describe("an equality that is the whole expression leaves nothing to evaluate", () => {
  test.each([
    ["async.data.id == event.data.id", "data.id", '"o-7"'],
    ["event.data.id == async.data.id", "data.id", '"o-7"'],
    ["(event.data.id) == ((async).data.id)", "data.id", '"o-7"'],
    ['async["data"]["id"] == event["data"].id', "data.id", '"o-7"'],
    ['async.data["order id"] == event.data.nested["a b"]', "data.order id", '"deep"'],
    ['"o-7" == async.data.id', "data.id", '"o-7"'],
    ["async.name == 'x'", "name", '"x"'],
    ["async.data.n == event.data.n", "data.n", "7"],
    ["async.data.n == 7", "data.n", "7"],
    ["async.data.n == 7.0", "data.n", "7"],
    ["async.data.n == -7", "data.n", "-7"],
    ["async.data.n == event.data.half", "data.n", "1.5"],
    ["async.data.n == event.data.huge", "data.n", "1e+300"],
    ["async.data.n == event.data.zero", "data.n", "0"],
    ["async.data.n == -0.0", "data.n", "0"],
    ["async.data.yes == event.data.yes", "data.yes", "true"],
    ["async.data.yes == false", "data.yes", "false"],
    ["async.data.n == event.data.list[0]", "data.n", "1"],
    ["async.data.t == event.data.text", "data.t", JSON.stringify("ö".normalize("NFD"))],
    ["async.data.t == event.data.broken", "data.t", '"\\ud800"'],
    ["async.data.t == '7'", "data.t", '"7"'],
    ["async.__proto__.a == 1", "__proto__.a", "1"],
  ])("%s", (text, path, value) => {
    expect(take(text)).toEqual({ path, value, rest: null });
  });
});

describe("an equality that only has to hold leaves the whole expression to evaluate", () => {
  test.each([
    ["async.data.id == event.data.id && async.data.total > 5", "data.id", '"o-7"'],
    ["async.data.total > 5 && (async.data.a != 1 && (async.data.id == event.data.id))", "data.id", '"o-7"'],
    ["async.data.id == 'a' && async.data.id == 'b'", "data.id", '"a"'],
    ["async.data.id == event.data.id && (async.data.a == 1 || async.data.b == 2)", "data.id", '"o-7"'],
  ])("%s", (text, path, value) => {
    expect(take(text)).toEqual({ path, value, rest: text });
  });

  test.each([
    ["async.data.list.length == 3", "data.list.length", "3"],
    ["async.data.list['0'] == 3", "data.list.0", "3"],
    ["async.data.list[0] == 3", "data.list.0", "3"],
  ])("a path that reads lists otherwise than the dialect does: %s", (text, path, value) => {
    expect(take(text)).toEqual({ path, value, rest: text });
  });

  test.each([
    ["async.data.id == 'order-' + event.data.n", "data.id", '"order-7"'],
    ["async.data.n == size(event.data.list)", "data.n", "1"],
    ["async.data.yes == (event.data.n > 5)", "data.yes", "true"],
    ["async.data.n == event.data.list.filter(x, x > 0).size()", "data.n", "1"],
  ])("a side that is computed, for its cost counts with the whole: %s", (text, path, value) => {
    expect(take(text)).toEqual({ path, value, rest: text });
  });

  test.each([
    ["async.data.nope == event.data.nope", "data.nope"],
    ["async.data.type == 'x' && event.data.nope == async.data.id", "data.id"],
    ["async.data.id == event.data.nope + '-a' && true", "data.id"],
    ["async.data.id == event.data.id - 1", "data.id"],
    ["async.data.id == dyn(event.data.nothing)", "data.id"],
  ])("a side that is missing or fails is looked up under what no event has: %s", (text, path) => {
    expect(take(text)).toEqual({ path, value: "null", rest: text });
  });
});

test("of several equalities the one that tells runs apart is taken", () => {
  for (const text of [
    "async.data.type == 'card' && async.data.id == event.data.id",
    "async.data.yes == event.data.yes && async.data.id == event.data.id",
    "async.data.list == event.data.list && async.data.id == event.data.id",
  ]) {
    expect(take(text)).toEqual({ path: "data.id", value: '"o-7"', rest: text });
  }
  const shared = "async.data.yes == event.data.yes && async.data.type == 'card'";
  expect(take(shared)).toEqual({ path: "data.yes", value: "true", rest: shared });
});

describe("every event is evaluated where no index compares as the dialect does", () => {
  test.each([
    // Null equals a missing field where it is written, and null where it is a value.
    "async.data.id == null",
    "null == async.data.id",
    "async.data.id == event.data.nothing",
    // Beyond what a number holds, an int is compared exactly.
    "async.data.n == 9007199254740993",
    "async.data.n == 9223372036854775807",
    "async.data.n == 0.0 / 0.0",
    "async.data.n == 1.0 / 0.0",
    "async.data.list == event.data.list",
    "async.data.map == event.data.map",
    "async.data.at == timestamp('2024-01-01T00:00:00Z')",
    "async.data.t == event.data.long",
    "async.data.id == event.data.id || async.data.n == 7",
    "!(async.data.id != event.data.id)",
    "!(async.data.id == event.data.id)",
    "async.data.id != event.data.id",
    "async.data.yes ? async.data.id == event.data.id : true",
    "async.data.id in [event.data.id]",
    "async.data.items.exists(i, i == event.data.id)",
    "(async.data.id == event.data.id) == true",
    "async.data.id == async.data.other",
    "async.data.id == async.data.id + event.data.id",
    "async.data.ids.map(x, x) == event.data.list",
    "async.data.n == [1].map(async, async).size()",
    "async.data[event.data.id] == 1",
    "async.data[-1] == 1",
    "async.data[0.0] == 1",
    "async == event",
    "event.data.id == 'o-7'",
    "true",
  ])("%s", (text) => {
    expect(take(text)).toEqual({ path: "", value: "", rest: text });
  });

  test.each([
    "async.data['a.b'] == 1",
    "async[''] == 1",
    "async.data[''] == 1",
    "async.data['a\\u0000'] == 1",
    "async.data['a\\n'] == 1",
    `async.data['${"x".repeat(300)}'] == 1`,
  ])("a path that a store or a path would not give back: %s", (text) => {
    expect(take(text)).toEqual({ path: "", value: "", rest: text });
  });

  test("but another equality of the same conjunction is taken", () => {
    const text = "async.data['a.b'] == 1 && async.data.id == null && async.data.n == event.data.n";
    expect(take(text)).toEqual({ path: "data.n", value: "7", rest: text });
  });
});

test("taking an equality leaves no trace in the expression", () => {
  const expression = compileExpression("async.data.id == event.data.id && async.data.n > 1");
  const scope = { event, async: { data: { id: "o-7", n: 2 } } };
  expect(expression.evaluate(scope)).toEqual({ ok: true, value: true });
  takeEquality(expression, {});
  expect(expression.evaluate(scope)).toEqual({ ok: true, value: true });
  expect(expression.evaluate({ event, async: { data: { id: "o-7", n: 1 } } })).toEqual({ ok: true, value: false });
});
