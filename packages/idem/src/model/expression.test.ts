import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, test, vi } from "vitest";
import { IdemError } from "./errors.ts";
import { compileExpression, type Expression, Expressions } from "./expression.ts";
import { errorCost, evaluationCostMax } from "./expression-meter.ts";
import { evaluateFilter, evaluateKey } from "./expression-outcome.ts";
import { chargeCost, costCharged, costPerMs } from "./metered-cost.ts";

const event = {
  name: "order/paid",
  id: "e1",
  data: {
    one: 1,
    half: 1.5,
    text: "abc",
    digit: "1",
    no: false,
    yes: true,
    nothing: null,
    list: [1, 2, 3],
    items: [{ sku: "a", paid: true }, { sku: "b" }, { sku: "c", name: "bob" }],
    nested: { "a-b": { c: 7 } },
    at: "2024-01-01T10:00:00Z",
  },
};

const evaluate = (text: string, scope: { event: unknown; async?: unknown } = { event }) =>
  compileExpression(text).evaluate(scope);

const resultOf = (text: string, scope?: { event: unknown; async?: unknown }): unknown => {
  const evaluation = evaluate(text, scope);
  if (!evaluation.ok) throw new Error(`${text} is ${evaluation.why}: ${evaluation.message}`);
  return evaluation.value;
};

const refusal = (text: unknown): string => {
  try {
    compileExpression(text as string);
  } catch (error) {
    expect(error).toBeInstanceOf(IdemError);
    expect((error as IdemError).code).toBe("EXPRESSION_INVALID");
    return (error as IdemError).message;
  }
  throw new Error("nothing was refused");
};

/** The cost of an evaluation, in units of about 40 ns, and the long texts that it gave to a search or a pattern. */
function meter<T>(evaluate: () => T) {
  const searches = [
    vi.spyOn(String.prototype, "includes"),
    vi.spyOn(String.prototype, "indexOf"),
    vi.spyOn(String.prototype, "split"),
  ];
  const matches = vi.spyOn(RE2JS.prototype, "test");
  const from = costCharged();
  const result = evaluate();
  const cost = costCharged() - from;
  const texts = [...searches.flatMap(({ mock }) => mock.contexts), ...matches.mock.calls.map(([text]) => text)];
  const searched = texts.map(String).filter((text) => text.length > 500);
  for (const spy of [...searches, matches]) spy.mockRestore();
  return { result, cost, searched };
}

/** An evaluation's own nodes, and a small operation that was too much, come on top of what it may cost. */
const chargedMax = evaluationCostMax + costPerMs;

describe("values", () => {
  test.each([
    ["event.data.one == 1", true],
    ["event.data.one != 1", false],
    ["1 == event.data.one", true],
    ["event.data.one == 1.0", true],
    ["event.data.one == '1'", false],
    ["event.data.digit == 1", false],
    ["event.data.one > 0", true],
    ["event.data.half >= 1 && event.data.half < 2", true],
    ["event.data.text < 'b'", true],
    ["event.data.one in [1, 2]", true],
    ["event.data.text in ['x', 'abc']", true],
    ["'text' in event.data", true],
    ["'toString' in event.data", false],
    ["event.data.list == [1, 2, 3]", true],
    ["event.data.nested == {'a-b': {'c': 7}}", true],
    ["event.data.nested['a-b'].c", 7],
    ["event.data.list[0]", 1],
    ["event.data.list[event.data.one]", 2],
    ["event.data.one + 1", 2],
    ["event.data.one - 0.5", 0.5],
    ["event.data.half * 2", 3],
    ["-event.data.one", -1],
    ["1 + 2", 3],
    ["size(event.data.list)", 3],
    ["event.data.text.size() + size(event.data.nested)", 4],
    ["event.data.text.startsWith('ab') && !event.data.text.contains('x')", true],
    ["event.data.text.matches('^a.c$')", true],
    ["timestamp(event.data.at) > timestamp('2023-01-01T00:00:00Z')", true],
    ["timestamp(event.data.at).getHours()", 10],
    ["duration('1h') == duration('60m')", true],
    ["event.data.items.exists(i, i.sku == 'b')", true],
    ["event.data.items.all(i, has(i.sku))", true],
    ["event.data.items.exists_one(i, i.paid)", true],
    ["event.data.items.filter(i, i.sku > 'a').size()", 2],
    ["event.data.items.map(i, i.sku).join('-')", "a-b-c"],
    ["event.data.yes ? 'y' : 0", "y"],
  ])("%s is %j", (text, value) => {
    expect(resultOf(text)).toStrictEqual(value);
  });

  test.each([
    ["event.data.one + '-' + event.data.text", "1-abc"],
    ["'n' + event.data.half", "n1.5"],
    ["'n' + 2", "n2"],
    ["1.0 + 'n'", "1n"],
    ["event.data.one + event.data.digit", "11"],
  ])("numbers join text as JavaScript writes them: %s is %j", (text, value) => {
    expect(resultOf(text)).toBe(value);
  });

  test.each([
    ["event.data.text && event.data.one", true],
    ["event.data.nothing || event.data.no", false],
    ["event.data.no || event.data.list", true],
    ["!event.data.text", false],
    ["!event.data.nothing", true],
  ])("logic takes any value for its truth: %s is %j", (text, value) => {
    expect(resultOf(text)).toBe(value);
  });

  test("an operand that fails does not matter when the other one decides", () => {
    expect(resultOf("event.data.text > 1 || event.data.yes")).toBe(true);
    expect(resultOf("event.data.text > 1 && event.data.no")).toBe(false);
    expect(evaluate("event.data.text > 1 && event.data.yes")).toMatchObject({ ok: false, why: "failed" });
  });

  test("async is the event that arrived", () => {
    const scope = { event: { data: { id: 7 } }, async: { data: { id: 7 } } };
    expect(resultOf("async.data.id == event.data.id", scope)).toBe(true);
    expect(resultOf("async.data.id == event.data.id", { event: scope.event })).toBe(false);
  });

  test("a comprehension variable may hide event without changing it", () => {
    expect(resultOf("event.data.items.all(event, event.sku >= 'a') && event.id == 'e1'")).toBe(true);
  });

  test("an evaluation that failed leaves no trace in the next one", () => {
    const expression = compileExpression("event.data.items.exists(i, i.n > 2) ? event.data.items.map(i, i.n) : []");
    expect(expression.evaluate({ event: { data: { items: [{ n: "x" }] } } })).toMatchObject({ ok: false });
    expect(expression.evaluate({ event: { data: { items: [{ n: 1 }, { n: 3 }] } } })).toEqual({
      ok: true,
      value: [1, 3],
    });
    expect(expression.evaluate({ event: { data: {} } })).toEqual({ ok: true, value: [] });
  });
});

describe("missing", () => {
  test.each([
    ["event.data.nope == 1", false],
    ["event.data.nope != 1", true],
    ["1 == event.data.nope", false],
    ["event.data.nope > 1", false],
    ["event.data.nope <= 1", false],
    ["event.data.nothing > 1", false],
    ["event.data.nope in [1]", false],
    ["1 in event.data.nope", false],
    ["event.data.nope == null", true],
    ["event.data.nope != null", false],
    ["event.data.nothing == null", true],
    ["null == event.data.a.b.c", true],
    ["event.data.one == null", false],
    ["has(event.data.one)", true],
    ["has(event.data.nope)", false],
    ["has(event.data.a.b.c)", false],
    ["event.data.nope && true", false],
    ["event.data.nope || true", true],
    ["!event.data.nope", true],
    ["event.data.nope ? 1 : 2", 2],
    ["event.data.text.nope == 'x'", false],
    ["size(event.data.nope) == 0", false],
    ["event.data.nope.startsWith('a') || event.data.yes", true],
    ["event.data.items.exists(i, i.name.startsWith('b'))", true],
    ["event.data.items.filter(i, i.paid).size()", 1],
    ["event.data.nope.exists(i, i == 1) || true", true],
  ])("%s is %j", (text, value) => {
    expect(resultOf(text)).toStrictEqual(value);
  });

  test("two missing fields are not equal, so nothing is matched by what neither side has", () => {
    expect(resultOf("event.data.nope == event.data.nada")).toBe(false);
    expect(resultOf("event.data.nope == async.data.nope", { event, async: { data: {} } })).toBe(false);
  });

  test.each([
    ["event.data.nope", "`event.data.nope` is missing"],
    ["event.data.a.b.c", "`event.data.a` is missing"],
    ["event.data.text.length", "`event.data.text.length` is missing"],
    ["event.data.list[3]", "`event.data.list[3]` is missing"],
    ["event.data.list[-1]", "`event.data.list[-1]` is missing"],
    ["event.data.text + event.data.nope", "`event.data.nope` is missing"],
    ["event.data.nope + '-' + event.data.text", "`event.data.nope` is missing"],
    ["'a' + event.data.nothing", "`event.data.nothing` is null"],
    ["(event.data.opt == 1 ? 'a' : 'b') + event.data.zip", "`event.data.zip` is missing"],
    ["event.data.zip + (event.data.opt == 1 ? 'a' : 'b')", "`event.data.zip` is missing"],
    ["event.data.nope - 1", "`event.data.nope` is missing"],
    ["string(event.data.nope)", "`event.data.nope` is missing"],
    ["event.data.nothing.startsWith('a')", "`event.data.nothing` is null"],
    ["[event.data.one, event.data.nope]", "`event.data.nope` is missing"],
    ["{'a': event.data.nope}", "`event.data.nope` is missing"],
    ["event.data.items.map(i, i.name)", "`i.name` is missing"],
    ["event.data.nope.map(i, i)", "`event.data.nope` is missing"],
    ["async.data.id", "a value it needs is missing"],
  ])("%s is missing because %s", (text, message) => {
    expect(evaluate(text)).toEqual({ ok: false, why: "missing", message });
  });

  test("a type that an operator cannot take is a failure with a reason", () => {
    expect(evaluate("event.data.text > 1")).toEqual({
      ok: false,
      why: "failed",
      message: "string > number has no meaning",
    });
    for (const text of ["event.data.list + 1", "event.data.yes + 'a'", "int(event.data.text)", "-event.data.text"]) {
      expect(evaluate(text)).toMatchObject({ ok: false, why: "failed" });
    }
  });
});

describe("compiling", () => {
  test.each([
    ["", "empty"],
    [" \n", "empty"],
    [undefined, "empty"],
    [`event.data.a == "${"x".repeat(4096)}"`, "longer than 4096"],
    [`${"event.a || ".repeat(300)}true`, "maxAstNodes"],
    [`${"(".repeat(200)}1${")".repeat(200)}`, "maxDepth"],
    ["event.data.", "Expected"],
    ["event.data == ", "Unexpected"],
    ["user.id", 'names "user"'],
    ["event.data.items.exists(i, j == 1)", 'names "j"'],
    ["google", 'names "google"'],
    ["'a' == 1", "no such overload"],
    ["event.data.list.sort()", '"sort" is not supported'],
    ["cel.bind(x, 1, x)", '"bind" is not supported'],
    ["type(event)", '"type" is not supported'],
    ["b'abc'", "bytes"],
    ["1u", "unsigned"],
    ["99999999999999999999", "64-bit"],
    ["event.data.text.matches('(')", "missing closing"],
    ["event.data.text.matches('(?=a)')", "cannot be used"],
    ["event.data.text.matches(event.data.text)", "written out"],
    [`event.data.text.matches('${"a".repeat(257)}')`, "longer than 256"],
    ["has(event)", "has()"],
  ])("%j is refused, saying %j", (text, why) => {
    expect(refusal(text)).toContain(why);
  });

  test("any text compiles or is refused with EXPRESSION_INVALID, at once", () => {
    const word = fc.constantFrom(
      ..."event async data . [ ] ( ) { } , : ? ! - + * / % == != < <= > >= && || in 1 2.5 0xF 'a' \"b\" null true x".split(
        " ",
      ),
      ...[
        "has(",
        "size(",
        ".map(x, ",
        ".all(x, ",
        ".exists(",
        ".matches('",
        "(a+)+$')",
        "__proto__",
        "r'",
        "//",
        "\\",
        "'''",
      ],
    );
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(word, { maxLength: 30 }).map((words) => words.join(" ")),
    );
    fc.assert(
      fc.property(text, (written) => {
        let expression: Expression;
        try {
          expression = compileExpression(written);
        } catch (error) {
          expect((error as IdemError).code).toBe("EXPRESSION_INVALID");
          return;
        }
        const { result, cost } = meter(() => expression.evaluate({ event }));
        expect(typeof result.ok).toBe("boolean");
        expect(cost).toBeLessThanOrEqual(chargedMax);
      }),
      { numRuns: 1500 },
    );
  });

  test("a path is known without the library, and means what the library makes of it: value, reason, cost and place", () => {
    // In brackets it is an expression that the library has to parse.
    const name = fc.constantFrom(
      "data",
      "one",
      "text",
      "nothing",
      "list",
      "nested",
      "sku",
      "in",
      "true",
      "if",
      "__proto__",
      "constructor",
      "_x1",
      "ü",
    );
    const path = fc
      .tuple(
        fc.constantFrom("event", "async", "output"),
        fc.array(name, { maxLength: 20 }),
        fc.constantFrom("", " ", "\n\t"),
      )
      .map(([root, names, space]) => `${space}${[root, ...names].join(".")}${space}`);
    const outcome = (written: string) => {
      try {
        const expression = compileExpression(written);
        const before = costCharged();
        const evaluations = [{ event }, { event, async: { data: { one: { text: null } } } }, { event: null }].map(
          (scope) => expression.evaluate(scope),
        );
        return {
          evaluations,
          cost: costCharged() - before,
          text: expression.root.input.slice(expression.root.start, expression.root.end),
        };
      } catch (error) {
        return (error as IdemError).code;
      }
    };
    fc.assert(
      fc.property(path, (written) => {
        chargeCost(0.1);
        expect(outcome(written)).toEqual(outcome(`(${written})`));
      }),
      { numRuns: 500 },
    );
  });

  test("the cache gives one expression per text and forgets the one unused longest", () => {
    const expressions = new Expressions(2);
    const a = expressions.get("event.a");
    expressions.get("event.b");
    expect(expressions.get("event.a")).toBe(a);
    expressions.get("event.c");
    expect(expressions.size).toBe(2);
    expect(expressions.get("event.a")).toBe(a);
    expect(() => expressions.get("event.")).toThrow(IdemError);
    expect(expressions.size).toBe(2);
  });

  test("the cache is bounded by the length of its texts too", () => {
    const expressions = new Expressions(10);
    for (let i = 0; i < 10; i++) expressions.get(`event.data.a == '${String(i).repeat(900)}'`);
    expect(expressions.size).toBe(1);
  });

  test("what was stored under wider bounds has no value, with the reason it is refused for today, and is refused to whoever asks for it anew", () => {
    const expressions = new Expressions(10);
    const text = 'event.data.n.matches("((a{1,10}){1,10}){1,10}")';
    expect(evaluateFilter(expressions.stored(text), { event: { data: { n: "a" } } })).toMatchObject({
      pass: false,
      failed: true,
    });
    expect(evaluateKey(expressions.stored(text), { event: {} })).toMatchObject({ kind: "failed" });
    expect(() => expressions.get(text)).toThrow(/is not usable/);
  });
});

describe("own properties only", () => {
  const names = ["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "__defineGetter__"];

  test.each(names)("%s is missing unless the event has it", (name) => {
    for (const text of [`event.${name}`, `event['${name}']`, `event.data.list['${name}']`, `event.data.text.${name}`]) {
      expect(evaluate(text)).toMatchObject({ ok: false, why: "missing" });
    }
    expect(resultOf(`has(event.${name})`)).toBe(false);
    expect(resultOf(`'${name}' in event`)).toBe(false);
    const sent = { event: JSON.parse(`{"${name}":{"x":1}}`) };
    expect(resultOf(`event.${name}.x`, sent)).toBe(1);
    expect(resultOf(`event == {'${name}': 1} || size(event) == 1`, sent)).toBe(true);
  });

  test("nothing an expression can write reaches a host function", () => {
    for (const text of [
      "event.constructor.constructor('return process')()",
      "event.data.list.constructor",
      "event.data.list.push(4)",
      "'a'.constructor",
      "{}.constructor",
      "[].constructor",
      "event.data.text.at(0)",
      "event.data.items.map(i, i.constructor)",
    ]) {
      let evaluation: { ok: boolean } = { ok: false };
      try {
        evaluation = evaluate(text);
      } catch (error) {
        expect((error as IdemError).code).toBe("EXPRESSION_INVALID");
      }
      expect(evaluation.ok).toBe(false);
    }
    expect(event.data.list).toEqual([1, 2, 3]);
  });
});

describe("cost", () => {
  const numbers = Array.from({ length: 20_000 }, (_, i) => i);
  const wide = Object.fromEntries(numbers.map((i) => [`k${i}`, i]));
  const data = {
    numbers,
    wide,
    wide2: structuredClone(wide),
    long: "a".repeat(500_000),
    needle: `${"a".repeat(20_000)}b${"a".repeat(20_000)}`,
    ab: Array.from({ length: 20_000 }, (_, i) => ((i * 7919) % 13 < 6 ? "a" : "b")).join(""),
    digits: "1".repeat(20_000),
  };

  test.each([
    "event.data.numbers.all(x, event.data.numbers.all(y, event.data.numbers.all(z, x + y + z >= 0)))",
    "event.data.numbers.map(x, event.data.numbers.map(y, x))",
    "event.data.numbers.all(x, (x + 0.5) in event.data.numbers || true)",
    "event.data.numbers.exists(x, x > 'a' || x > 'b')",
    "event.data.numbers.exists(x, int('z') == 1)",
    "event.data.numbers.exists(x, size(event.data.wide) == 1)",
    "event.data.numbers.exists(x, event.data.wide == event.data.wide2 && false)",
    "event.data.numbers.exists(x, event.data.wide.all(k, false))",
    "event.data.numbers.exists(x, timestamp('2024-01-01T00:00:00Z').getHours('America/New_York') == 30)",
    "event.data.long.contains(event.data.needle)",
    "event.data.long.split(event.data.needle)",
    "duration(event.data.digits)",
    "event.data.ab.matches('(a|b)*a(a|b){40}$')",
  ])("%s fails in bounded time", (text) => {
    failsInTime(text);
  });

  test.each([
    ["a list", `[event.data.numbers]${".map(x, x + x)".repeat(20)}`],
    ["text", `['abc']${".map(x, x + x)".repeat(20)}`],
    ["a list within a list", `[1]${".map(x, [x, x])".repeat(28)}`],
    ["two lists to compare", `[1]${".map(x, [x, x])".repeat(28)} == [1]${".map(x, [x, x])".repeat(28)}`],
  ])("doubling %s over and over fails in bounded time", (_name, text) => {
    failsInTime(text);
  });

  const failsInTime = (text: string): void => {
    const expression = compileExpression(text);
    const { result, cost, searched } = meter(() => evaluateKey(expression, { event: { data } }));
    expect(result.kind).toBe("failed");
    if (cost <= chargedMax) return;
    // The cost of an operation that is too much is charged, and the operation is never begun.
    expect(result).toMatchObject({ reason: expect.stringContaining("it costs too much to evaluate") });
    expect(searched).toEqual([]);
  };

  test.each([
    `${"event.data.numbers.exists(x, ".repeat(3)}int("x") == 1)))`,
    `${"event.data.numbers.exists(x, ".repeat(4)}false))))`,
    'event.data.numbers.exists(x, timestamp("x").getHours() == 1 || double("y") == 1.0)',
    `event.data.numbers.exists(x, duration("${"1".repeat(64)}") == duration("1h"))`,
    "event.data.numbers.map(x, event.data.numbers)",
    "event.data.wide",
  ])("%s charges no more than an evaluation may cost", (text) => {
    const expression = compileExpression(text);
    expect(meter(() => evaluateKey(expression, { event: { data } })).cost).toBeLessThanOrEqual(chargedMax);
  });

  test("what fails is charged for the error it made: 200 of them are an evaluation's worth", () => {
    const expression = compileExpression("event.data.exists(x, int('x') == 1)");
    const from = costCharged();
    expect(expression.evaluate({ event: { data: numbers.slice(0, 100) } })).toMatchObject({ ok: false });
    expect(costCharged() - from).toBeGreaterThanOrEqual(100 * errorCost);
    expect(200 * errorCost).toBe(evaluationCostMax);
  });

  test("an ordinary filter over 20,000 items is not too costly", () => {
    expect(resultOf("event.data.numbers.exists(x, x == 19999)", { event: { data } })).toBe(true);
  });

  test.each([
    ["(a+)+$", "!"],
    ["(a|aa)+$", "!"],
    ["(a|a?)+$", "!"],
    ["(.*a){20}$", "!"],
    ["^(([a-z])+.)+[A-Z]([a-z])+$", ""],
    ["(x+x+)+y", "x"],
    ["(a?){50}a{50}$", "!"],
    ["([a-zA-Z]+)*$", "1"],
    ["(.*)*=.*", ""],
  ])("the pattern %s, which can hang a backtracking engine, does not hang", (pattern, end) => {
    const expression = compileExpression(`event.data.matches(r"${pattern}")`);
    for (const length of [30, 1_000, 100_000]) {
      const scope = { event: { data: "a".repeat(length) + end } };
      // Were it tried by a backtracking engine, the shortest text would meet the test's bound against hanging.
      const { result, cost, searched } = meter(() => expression.evaluate(scope));
      expect(result.ok).toBe(cost <= chargedMax);
      expect(searched.length > 0).toBe(result.ok && length > 500);
    }
  });
});

describe("keys", () => {
  const keyOf = (text: string, data: unknown) => evaluateKey(compileExpression(text), { event: { data } });

  test("the number 1 and the text 1 are different keys, 1 and 1.0 the same", () => {
    expect(keyOf("event.data.id", { id: 1 })).toEqual({ kind: "key", key: "1" });
    expect(keyOf("event.data.id", { id: "1" })).toEqual({ kind: "key", key: '"1"' });
    expect(keyOf("1", {})).toEqual({ kind: "key", key: "1" });
    expect(keyOf("1.0", {})).toEqual({ kind: "key", key: "1" });
    expect(keyOf("9223372036854775807", {})).toEqual({ kind: "key", key: "9223372036854775807" });
  });

  test("objects with the same fields are the same key whatever their order", () => {
    expect(keyOf("event.data", { a: 1, b: [null, "x"] })).toEqual(keyOf("event.data", { b: [null, "x"], a: 1 }));
    expect(keyOf("[event.data.a, 1, true]", { a: "x" })).toEqual({ kind: "key", key: '["x",1,true]' });
    expect(keyOf("timestamp(event.data)", "2024-01-01T10:00:00Z")).toEqual({
      kind: "key",
      key: '"2024-01-01T10:00:00.000Z"',
    });
  });

  test.each([
    "event.data.id",
    "event.data.id + '-' + event.data.to",
    "[event.data.to, event.data.id]",
    "string(event.data.id)",
  ])("the key %s is missing, never shared, when a field is missing or null", (text) => {
    expect(keyOf(text, { to: "x" })).toMatchObject({ kind: "missing" });
    expect(keyOf(text, { to: "x", id: null })).toMatchObject({ kind: "missing" });
    expect(keyOf(text, { to: "x", id: "" })).toMatchObject({ kind: "key" });
  });

  test("a key that cannot be computed says why", () => {
    expect(keyOf("event.data.a - 1", { a: "x" })).toMatchObject({ kind: "failed" });
    expect(keyOf("event.data.a / 0", { a: 1 })).toMatchObject({ kind: "failed" });
    expect(keyOf("duration('1h')", {})).toMatchObject({ kind: "failed" });
  });

  test("a long key keeps its start and stays different from every other", () => {
    const long = "x".repeat(2_000);
    const first = keyOf("event.data", `${long}1`) as { key: string };
    const second = keyOf("event.data", `${long}2`) as { key: string };
    expect(first.key).toMatch(/^"x{63}…[0-9a-f]{64}$/);
    expect(first.key).not.toBe(second.key);
    expect(keyOf("event.data", "x".repeat(1_022))).toEqual({ kind: "key", key: JSON.stringify("x".repeat(1_022)) });
    const cut = keyOf("event.data", `${"x".repeat(62)}😀${long}`) as { key: string };
    expect(cut.key).not.toMatch(/[\ud800-\udbff]…/);
  });

  test("two data values have one key exactly when they are the same JSON", () => {
    const expression = compileExpression("event.data");
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const [x, y] = [a, b].map((data) => evaluateKey(expression, { event: { data } }));
        expect(evaluateKey(expression, { event: { data: structuredClone(a) } })).toEqual(x);
        if (x?.kind === "key" && y?.kind === "key") expect(x.key === y.key).toBe(sorted(a) === sorted(b));
      }),
    );
  });

  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_key, item) =>
      typeof item === "object" && item !== null && !Array.isArray(item)
        ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
        : item,
    );
});

describe("filters", () => {
  const filter = (text: string) => evaluateFilter(compileExpression(text), { event });

  test("only true passes, and every other answer says why", () => {
    expect(filter("event.data.one == 1")).toEqual({ pass: true });
    expect(filter("event.data.one == 2")).toEqual({ pass: false, reason: "filter `event.data.one == 2` is false" });
    expect(filter("event.data.nope")).toEqual({
      pass: false,
      reason: "filter `event.data.nope`: `event.data.nope` is missing",
      failed: true,
    });
    expect(filter("event.data.text > 1")).toEqual({
      pass: false,
      reason: "filter `event.data.text > 1` failed: string > number has no meaning",
      failed: true,
    });
    expect(filter("event.data.text")).toEqual({
      pass: false,
      reason: "filter `event.data.text` is neither true nor false",
      failed: true,
    });
  });
});

test("no JSON data makes an evaluation throw", () => {
  const expressions = [
    "event.data.a.b == 1 && event.data.a < 2 || !event.data.b",
    "event.data.a + '-' + event.data.b",
    "event.data.a - event.data.b * 2",
    "event.data.a.exists(x, x.b == event.data.b) || event.data.a.map(x, x).size() > 1",
    "event.data.a in event.data.b",
    "event.data.a == event.data.b",
    "event.data.a[event.data.b]",
    "size(event.data.a) > size(event.data.b)",
    "event.data.a.startsWith(event.data.b)",
    "event.data.a.matches('^[a-z]+$')",
    "event.data.a.split(event.data.b).join('-')",
    "string(event.data.a) + string(event.data.b)",
    "timestamp(event.data.a) < timestamp(event.data.b)",
    "duration(event.data.a)",
    "[event.data.a, {'b': event.data.b}]",
    "event",
  ].map((text) => compileExpression(text));
  const data = fc.dictionary(fc.constantFrom("a", "b", "constructor", "__proto__"), fc.jsonValue());
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), data), fc.constantFrom(...expressions), (value, expression) => {
      expect(typeof expression.evaluate({ event: { data: value } }).ok).toBe("boolean");
      expect(evaluateKey(expression, { event: { data: value } }).kind).toMatch(/key|missing|failed/);
    }),
    { numRuns: 1000 },
  );
  for (const scope of [{ event: undefined }, { event: null }, { event: 1 }, null]) {
    for (const expression of expressions) expect(typeof expression.evaluate(scope as never).ok).toBe("boolean");
  }
});
