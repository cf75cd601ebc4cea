import { isDeepStrictEqual } from "node:util";
import vm from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { IdemError } from "./errors.ts";
import { canonicalJson, differingPaths, fromJson, jsonDepthMax, jsonNodeCountMax, toJson } from "./json.ts";

const refusal = (value: unknown): { path: string; why: string } => {
  try {
    toJson(value, 'Step "charge"');
  } catch (error) {
    expect(error).toBeInstanceOf(IdemError);
    expect((error as IdemError).code).toBe("VALUE_UNSERIALIZABLE");
    expect((error as IdemError).message).toContain('Step "charge"');
    return (error as IdemError).facts as { path: string; why: string };
  }
  throw new Error("nothing was refused");
};

class Sealed {
  readonly #total = 1;
  get total(): number {
    return this.#total;
  }
}

class Bare {}

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = { a: value };
  return value;
};

// fast-check's own JSON values, with the corners it leaves out: -0, lone surrogates, "__proto__".
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("\ud800", "a\udc00b"),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString")), tie("value"), {
      maxKeys: 5,
      noNullPrototype: true,
    }),
  ),
})).value;

describe("toJson", () => {
  test("every JSON value comes back as it went in", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(isDeepStrictEqual(fromJson(toJson(value, "x")), value)).toBe(true);
      }),
    );
  });

  test("a value without -0 is written as JSON.stringify writes it", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (generated) => {
        const text = JSON.stringify(generated);
        expect(toJson(JSON.parse(text), "x")).toBe(text);
      }),
    );
  });

  test("-0 stays -0", () => {
    expect(toJson({ a: [-0, 0] }, "x")).toBe('{"a":[-0,0]}');
    expect(Object.is(fromJson(toJson(-0, "x")), -0)).toBe(true);
  });

  test("what JSON carries by convention is carried: dates, toJSON, class instances, undefined", () => {
    class Money {
      readonly amount = 5;
      readonly note = undefined;
      total(): number {
        return this.amount;
      }
    }
    const date = new Date(0);
    expect(toJson(undefined, "x")).toBe("null");
    expect(toJson({ date, skipped: undefined }, "x")).toBe('{"date":"1970-01-01T00:00:00.000Z"}');
    expect(toJson([undefined, new Money()], "x")).toBe('[null,{"amount":5}]');
    expect(toJson({ at: { toJSON: (key: string) => ({ key }) } }, "x")).toBe('{"at":{"key":"at"}}');
    expect(toJson(new URL("https://idem.dev/"), "x")).toBe('"https://idem.dev/"');
    expect(toJson([Object("a"), Object(1), Object(true), Object.create(null)], "x")).toBe('["a",1,true,{}]');
    expect(toJson([{ toJSON: () => undefined }, -0], "x")).toBe("[null,-0]");
  });

  test("a getter and toJSON are asked once by the writer that keeps what it checked", () => {
    let count = 0;
    const value = {
      toJSON() {
        count++;
        return { n: -0 };
      },
    };
    expect(toJson([value], "x")).toBe('[{"n":-0}]');
    expect(count).toBe(1);
  });

  test.each([
    ["a BigInt", 1n],
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["a Map", new Map()],
    ["a Set", new Set()],
    ["a Map of another realm", vm.runInNewContext("new Map()")],
    ["a RegExp", /a/],
    ["a WeakMap", new WeakMap()],
    ["a WeakSet", new WeakSet()],
    ["a Promise", Promise.resolve(1)],
    ["a typed array", new Float64Array(1)],
    ["an ArrayBuffer", new ArrayBuffer(1)],
    ["a DataView", new DataView(new ArrayBuffer(1))],
    ["a Buffer", Buffer.from("a")],
    ["an invalid Date", new Date("x")],
    ["a boxed BigInt", Object(1n)],
    ["what toJSON makes unusable", { toJSON: () => Number.NaN }],
  ])("%s is refused where it stands", (_name, value) => {
    expect(refusal({ data: { items: [0, 1, 2, { total: value }] } }).path).toBe("data.items[3].total");
    expect(refusal(value).path).toBe("(the value itself)");
  });

  test.each<[string, unknown, string]>([
    ["a Response", new Response("{}"), "await response.json()"],
    ["a Request", new Request("http://localhost/"), "await request.json()"],
    ["a Headers", new Headers({ a: "1" }), "Object.fromEntries(headers)"],
    ["a FormData", new FormData(), "Object.fromEntries(form)"],
    ["a URLSearchParams", new URLSearchParams("a=1"), "String(params)"],
    ["a Blob", new Blob(["a"]), "await blob.text()"],
    ["a ReadableStream", new ReadableStream(), "read it first"],
    ["an AbortSignal", new AbortController().signal, "toJSON"],
    ["a generator", (function* () {})(), "[...values]"],
    ["an Error", new Error("declined"), "error.message"],
    ["an Error with fields", Object.assign(new Error("declined"), { status: 402 }), "error.message"],
    ["an Error of another realm", vm.runInNewContext("new TypeError('declined')"), "error.message"],
    ["an instance with private fields only", new Sealed(), "toJSON"],
    ["an instance without fields", new Bare(), "it is a Bare, of which JSON keeps nothing"],
    ["an object that only inherits its fields", Object.create({ total: 1 }), "of which JSON keeps nothing"],
  ])("%s, which would be kept as {}, is refused with how to keep it", (_name, value, advice) => {
    expect(refusal({ data: [value] })).toEqual({
      where: 'Step "charge"',
      path: "data[0]",
      why: expect.stringContaining(advice),
    });
  });

  test("an Error and an instance that say themselves how they are written are carried", () => {
    class Point {
      readonly #x = 1;
      toJSON() {
        return { x: this.#x };
      }
    }
    const error = Object.assign(new Error("declined"), { toJSON: () => ({ message: "declined" }) });
    expect(toJson([new Point(), error], "x")).toBe('[{"x":1},{"message":"declined"}]');
  });

  test("empty objects are carried, of other realms and without a prototype too", () => {
    expect(toJson([{}, -0, Object.create(null), vm.runInNewContext("({})")], "x")).toBe("[{},-0,{},{}]");
  });

  test("a refused Buffer comes with the advice to use base64", () => {
    expect(refusal({ file: Buffer.from("a") }).why).toContain("base64");
  });

  test("a key that is not a name is quoted in the path, and a long path is cut", () => {
    expect(refusal({ "order id": { "": 1n } }).path).toBe('["order id"][""]');
    expect(refusal({ ["k".repeat(10_000)]: 1n }).path.length).toBeLessThan(300);
  });

  test("a getter that throws is refused with its path and its cause", () => {
    const cause = new Error("closed");
    const value = {
      data: {
        get row() {
          throw cause;
        },
      },
    };
    expect(refusal(value)).toMatchObject({ path: "data.row", why: "reading it failed: closed" });
    expect(() => toJson(value, "x")).toThrow(expect.objectContaining({ cause }));
  });

  test("a cycle is refused, a value used twice is not", () => {
    const shared = { a: 1 };
    expect(toJson([shared, shared], "x")).toBe('[{"a":1},{"a":1}]');
    const cycle: Record<string, unknown> = { list: [] };
    (cycle.list as unknown[]).push({ again: cycle });
    expect(refusal(cycle)).toMatchObject({ path: "list[0].again", why: "it contains itself" });
  });

  test("a value nested to the bound is kept, one level more is refused", () => {
    expect(fromJson(toJson(nested(jsonDepthMax), "x"))).toStrictEqual(nested(jsonDepthMax));
    expect(refusal(nested(jsonDepthMax + 1)).why).toContain(`${jsonDepthMax} levels`);
    refusal(nested(100_000));
  });

  test("a value of as many parts as the bound is kept, one more is refused", () => {
    expect(toJson(new Array(jsonNodeCountMax - 1).fill(0), "x")).toHaveLength(2 * jsonNodeCountMax - 1);
    expect(refusal(new Array(jsonNodeCountMax).fill(0)).why).toContain(String(jsonNodeCountMax));
  });

  test("a small value that stands for a huge one through shared parts is refused, not written", () => {
    let value: unknown = [1];
    for (let i = 0; i < 60; i++) value = [value, value];
    refusal(value);
  });

  test("an own __proto__ key is data: it is written, read back, and changes no prototype", () => {
    const text = '{"__proto__":{"isAdmin":true},"a":-0}';
    const value = fromJson(text) as { isAdmin?: boolean };
    expect(toJson(value, "x")).toBe(text);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.isAdmin).toBeUndefined();
  });

  test("anything at all is either written as JSON or refused with VALUE_UNSERIALIZABLE", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
      withSparseArray: true,
      withNullPrototype: true,
      withBoxedValues: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        try {
          JSON.parse(toJson(value, "x"));
        } catch (error) {
          expect((error as IdemError).code).toBe("VALUE_UNSERIALIZABLE");
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe("canonicalJson", () => {
  const shuffled = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(shuffled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value)
        .reverse()
        .map(([key, item]) => [key, shuffled(item)]),
    );
  };

  test("two values that differ only in the order of keys have one canonical form", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
      }),
    );
  });

  test("the canonical form is JSON for the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (generated) => {
        const value = JSON.parse(JSON.stringify(generated));
        expect(isDeepStrictEqual(JSON.parse(canonicalJson(value)), value)).toBe(true);
      }),
    );
  });

  test("keys are sorted by code unit, as RFC 8785 has them", () => {
    const keys = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6", "10", "2"];
    const value = Object.fromEntries(keys.map((key) => [key, 0]));
    expect(Object.keys(JSON.parse(canonicalJson(value)))).toHaveLength(9);
    expect(canonicalJson(value)).toBe(
      '{"\\r":0,"1":0,"10":0,"2":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\ud83d\ude00":0,"\ufb33":0}',
    );
    expect(canonicalJson({ b: [1e21, 1.0, -0, undefined], a: undefined })).toBe('{"b":[1e+21,1,0,null]}');
  });
});

describe("differingPaths", () => {
  test("a value does not differ from its copy", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(differingPaths(value, structuredClone(value))).toEqual([]);
      }),
    );
  });

  test("two values differ exactly when their canonical forms do", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(differingPaths(a, b).length > 0).toBe(canonicalJson(a) !== canonicalJson(b));
      }),
    );
  });

  test("changed, added and removed parts are named by their paths", () => {
    const first = { data: { requestedAt: 1, items: [1, 2, 3], gone: true, same: { a: 1 } } };
    const second = { data: { requestedAt: 2, items: [1, 2, 4, 5], new: null, same: { a: 1 } } };
    expect(differingPaths(first, second)).toEqual([
      "data.requestedAt",
      "data.items[2]",
      "data.items[3]",
      "data.gone",
      "data.new",
    ]);
    expect(differingPaths(1, "1")).toEqual(["(the value itself)"]);
    expect(differingPaths({ a: [] }, { a: {} })).toEqual(["a"]);
    expect(differingPaths({ a: null }, { a: {} })).toEqual(["a"]);
    expect(differingPaths({ a: null }, {})).toEqual(["a"]);
    expect(differingPaths(JSON.parse('{"__proto__":1}'), {})).toEqual(["__proto__"]);
  });

  test("no more paths are listed than asked for", () => {
    const list = Array.from({ length: 1000 }, (_, i) => i);
    expect(differingPaths(list, [])).toHaveLength(20);
    expect(differingPaths(list, [], 3)).toEqual(["[0]", "[1]", "[2]"]);
    expect(differingPaths(1, 2, 0)).toEqual([]);
  });

  test("deep, cyclic and branching values end the comparison instead of the process", () => {
    expect(differingPaths(nested(100_000), nested(100_001))).toEqual([]);
    const a: Record<string, unknown> = {};
    Object.assign(a, { left: a, right: a });
    const b: Record<string, unknown> = {};
    Object.assign(b, { left: b, right: b });
    expect(differingPaths(a, b)).toEqual([]);
  });
});
